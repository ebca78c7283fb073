#!/usr/bin/env node
import { helper } from './cases.cjs';
import { Worker } from 'node:worker_threads';
export function go() { return helper(1); }
go();
await go();
const late = await import('./late.mjs');
late.lazy();
new Worker(new URL('./worker.cjs', import.meta.url));
