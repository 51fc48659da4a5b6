// SPDX-License-Identifier: LGPL-2.1-or-later
// A figure per benchmark as SVG: time per message over the message size, measured and predicted, and below how far each
// prediction is off. Drawn by gnuplot, which must be installed; the same input gives the same file.
#pragma once

#include <string>
#include <vector>

#include "net_models/calibration/measurements.h"

namespace umwelt::net
{

struct Prediction {
  std::string name; // "umwelt"
  Series series;
};

struct Figure {
  std::string title;
  Series measured;
  std::vector<Prediction> predictions;
};

// What gnuplot is told; sizes of 0 are left out, since the axis is logarithmic.
std::string gnuplot_script(const Figure& figure);

// What gnuplot draws, with `set terminal svg`: the text of an SVG file. Throws std::runtime_error (object, expected,
// got, next step) if gnuplot is missing or fails.
std::string run_gnuplot(const std::string& script);

// The text of an SVG file. Throws as run_gnuplot().
std::string draw(const Figure& figure);

} // namespace umwelt::net
