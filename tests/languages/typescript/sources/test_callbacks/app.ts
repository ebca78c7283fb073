export function run(): void {}
export class Service {
  go(): void {}
}
