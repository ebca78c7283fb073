// Runs inside a box, in the copy of a checkout: one warm session of vitest or jest that runs one test file again and again.
//
//     node node_driver.mjs RUNNER PROGRAM TEST
//
// Requests are lines of JSON on standard input: {"target", "pattern"}; answers are lines of JSON on file descriptor 3:
// {"tests": [[titles, passed, milliseconds]], "code"}. The target has been rewritten before each request. What the runner isolates
// test files by (a worker, a context) is made anew each time; the runner itself, its transformed modules and its caches stay.
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { writeSync } from "node:fs";

const [runner, program, test] = process.argv.slice(2);
const require = createRequire(program);

async function vitest() {
  const { createVitest } = await import(pathToFileURL(resolve(dirname(program), "dist/node.js")).href);
  const options = { watch: false, run: true, bail: 1, coverage: { enabled: false }, reporters: [{}] };
  const session = await createVitest("test", options, { server: { watch: null } });
  const file = resolve(test);

  function forget(path) {
    const servers = [session.server, session.vite, ...(session.projects ?? []).flatMap((one) => [one.server, one.vite])];
    for (const server of new Set(servers.filter(Boolean))) {
      const graphs = [server.moduleGraph, ...Object.values(server.environments ?? {}).map((one) => one.moduleGraph)];
      for (const graph of graphs.filter(Boolean)) {
        for (const module of graph.getModulesByFile(path) ?? []) graph.invalidateModule(module, new Set(), Date.now(), true);
      }
    }
    session.invalidateFile?.(path);
  }

  function titles(task) {
    const found = [];
    for (let at = task; at && at.type !== undefined && at.filepath === undefined; at = at.suite) if (at.name) found.unshift(at.name);
    return found;
  }

  function leaves(tasks) {
    return (tasks ?? []).flatMap((task) => (task.tasks ? leaves(task.tasks) : [task]));
  }

  return async ({ target, pattern }) => {
    forget(resolve(target));
    const wanted = pattern ? new RegExp(pattern) : undefined;
    if (session.setGlobalTestNamePattern) {
      if (wanted) session.setGlobalTestNamePattern(wanted);
      else session.resetGlobalTestNamePattern();
    } else session.configOverride.testNamePattern = wanted;
    session.state.errorsSet?.clear();
    if (session.runTestSpecifications) await session.runTestSpecifications(await session.globTestSpecifications([file]), false);
    else await session.runFiles(await session.globTestFiles([file]), false);
    const files = session.state.getFiles().filter((one) => one.filepath === file);
    const ran = leaves(files).filter((one) => one.result?.state === "pass" || one.result?.state === "fail");
    const broken = files.length === 0 || files.some((one) => one.result?.state === "fail") || session.state.getUnhandledErrors().length > 0;
    return {
      tests: ran.map((one) => [titles(one), one.result.state === "pass", one.result.duration ?? 0]),
      code: broken ? 1 : 0,
    };
  };
}

async function jest() {
  const inner = createRequire(require.resolve("jest-cli/package.json"));
  const { runCLI } = inner("@jest/core");
  return async ({ pattern }) => {
    // No `bail`: it is about files, and ends the process.
    const options = { _: [test], $0: "jest", runTestsByPath: true, runInBand: true, silent: true, coverage: false, ci: true };
    const { results } = await runCLI({ ...options, ...(pattern ? { testNamePattern: pattern } : {}) }, [process.cwd()]);
    const ran = results.testResults.flatMap((one) => one.testResults).filter((one) => one.status === "passed" || one.status === "failed");
    return {
      tests: ran.map((one) => [[...one.ancestorTitles, one.title], one.status === "passed", one.duration ?? 0]),
      code: results.success && ran.length > 0 ? 0 : 1,
    };
  };
}

const run = await { vitest, jest }[runner]();
writeSync(3, "{}\n");
for await (const line of createInterface({ input: process.stdin })) writeSync(3, `${JSON.stringify(await run(JSON.parse(line)))}\n`);
process.exit(0);
