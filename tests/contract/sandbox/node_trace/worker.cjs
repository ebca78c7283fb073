const { helper } = require('./cases.cjs'); function inWorker() { helper(3); } inWorker();
