// Row 40: what comes from packages and the platform is external, under one name however it is imported.
import fs, { readFileSync } from "fs";
import * as path from "node:path";
import express from "express";
import { Router } from "express";
import styles from "./main.css";

class Service {
  readFileSync(): void {}
  get(): void {}
}

export function run(service: Service): void {
  fs.readFileSync("a");
  // x> node:fs.readFileSync
  // -/> main.ts#Service.readFileSync
  readFileSync("a");
  // x> node:fs.readFileSync
  path.join("a");
  // x> node:path.join
  const app = express();
  // x> express
  app.get("/");
  // -/> main.ts#Service.get
  Router().get("/");
  // x> express.Router
  // -/> main.ts#Service.get
  styles.get("a");
  // -/> main.ts#Service.get
  document.querySelector("a")?.addEventListener("click", service.get);
  // x> document.querySelector
  // => main.ts#Service.get
  fetch("a").then((response) => response.json());
  // x> fetch
  setTimeout(helper, 1);
  // x> setTimeout
  // => main.ts#helper
}
function helper(): void {}
