/** Queries that must not reach a subgraph, each with the limit that stops it. */
export const HOSTILE: readonly (readonly [string, string])[] = [
  ['depth', `{ task(id: 1) { ${'previous { '.repeat(50)} id ${'}'.repeat(50)} } }`],
  ['aliases', `{ ${Array.from({ length: 1_000 }, (_, index) => `a${index}: hello`).join(' ')} }`],
  ['query-length', `{ ${'hello '.repeat(200_000)} }`.slice(0, 900_000)],
  ['tokens', `{ ${'hello '.repeat(10_000)} }`],
  ['root-fields', `mutation { ${'start '.repeat(21)} }`],
  ['operations', Array.from({ length: 100 }, (_, index) => `query q${index} { hello }`).join(' ')],
  [
    'introspection-depth',
    `{ __schema { types { ${'fields { type { '.repeat(8)} name ${'} }'.repeat(8)} } } }`,
  ],
  [
    'fields',
    `{ task(id: 1) { ...f0 } } ${Array.from({ length: 30 }, (_, index) => `fragment f${index} on Task { ...f${index + 1} ...f${index + 1} }`).join(' ')} fragment f30 on Task { id }`,
  ],
  ['nesting', `{ task(id: ${'['.repeat(4_000)}`],
  ['cost', '{ tasks(first: 1000000) { edges { node { id } } } }'],
];
