"use strict";
const keys = { kRun: Symbol("run"), kOther: Symbol("other") };
module.exports = keys;
