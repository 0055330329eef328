#pragma once
/* Standard input, output and error of a program that was started without some of them. */

/* Opens those that are closed, so that no file or device opened later gets the number 0, 1 or 2
 * and messages in its data. Reading and writing them still fails. Context: main, before all
 * else. */
void standard_files_open(void);
