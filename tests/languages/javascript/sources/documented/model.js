export class Model {
  save() {}
}
