#pragma once
/* The clips that were kept aside when they were made: of each it was known what the filter gains
 * before any number was chosen by it. @x, @y, @t: as of struct clip. Context: pure functions. */
#include "tools/bench/quality/brush.h"

struct rgb kitchen(double x, double y, int t);
struct rgb study(double x, double y, int t);
struct rgb desk(double x, double y, int t);
struct rgb lesson(double x, double y, int t);
struct rgb market(double x, double y, int t);
struct rgb stage(double x, double y, int t);
struct rgb from_window(double x, double y, int t);
struct rgb evening(double x, double y, int t);
struct rgb train(double x, double y, int t);
