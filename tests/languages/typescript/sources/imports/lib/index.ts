export * from "./clock";
export { later as afterwards, default as tick } from "./clock";
export * as text from "./text";
export { tools } from "./text";
