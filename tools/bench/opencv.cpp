#include "tools/bench/opencv.h"

#include <opencv2/imgproc.hpp>

static void bilateral(const cv::Mat &src, cv::Mat dst, int radius, double sigma_space,
                      double sigma_color)
{
    cv::setNumThreads(1);
    cv::bilateralFilter(src, dst, 2 * radius + 1, sigma_color, sigma_space, cv::BORDER_REPLICATE);
}

void opencv_filter(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                   double sigma_space, double sigma_color)
{
    bilateral({height, width, CV_8UC3, const_cast<uint8_t *>(in)}, {height, width, CV_8UC3, out},
              radius, sigma_space, sigma_color);
}

void opencv_filter_float(const float *in, float *out, int width, int height, int radius,
                         double sigma_space, double sigma_color)
{
    bilateral({height, width, CV_32FC3, const_cast<float *>(in)}, {height, width, CV_32FC3, out},
              radius, sigma_space, sigma_color);
}

void opencv_gaussian(const uint8_t *in, uint8_t *out, int width, int height, int channels,
                     int radius, double sigma_space)
{
    const cv::Mat src(height, width, CV_8UC(channels), const_cast<uint8_t *>(in));
    cv::Mat dst(height, width, CV_8UC(channels), out);
    const int side = 2 * radius + 1;

    cv::setNumThreads(1);
    cv::GaussianBlur(src, dst, cv::Size(side, side), sigma_space, sigma_space,
                     cv::BORDER_REPLICATE);
}

void opencv_box(const uint8_t *in, uint8_t *out, int width, int height, int channels, int radius)
{
    const cv::Mat src(height, width, CV_8UC(channels), const_cast<uint8_t *>(in));
    cv::Mat dst(height, width, CV_8UC(channels), out);
    const int side = 2 * radius + 1;

    cv::setNumThreads(1);
    cv::blur(src, dst, cv::Size(side, side), cv::Point(-1, -1), cv::BORDER_REPLICATE);
}

const char *opencv_version(void)
{
    return CV_VERSION;
}
