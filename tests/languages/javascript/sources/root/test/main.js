// Row 4: a folder that is required is what its manifest says, the root of the repository too.
const start = require("..");
const again = require("../");
start();
// -> entry.js#start [import]
again();
// -> entry.js#start [import]
