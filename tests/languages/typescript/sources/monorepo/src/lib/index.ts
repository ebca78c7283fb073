import { one } from "./one";
export { one as barrel };
