/**
 * Data of which a part was answered, though it may hold nothing but nulls: what a subgraph said is null is an answer. Known
 * of the data itself, because the result around it is made anew on its way out.
 */
const answered = new WeakSet<object>();

/** Notes that a part of the data was answered. */
export function noteAnswered(data: object): void {
  answered.add(data);
}

/** Whether a part of the data is known to have been answered. */
export function isAnswered(data: unknown): boolean {
  return typeof data === 'object' && data !== null && answered.has(data);
}

/** The same data made anew: what is known of it holds on. */
export function remade<Data extends object>(data: object, made: Data): Data {
  if (answered.has(data)) answered.add(made);
  return made;
}
