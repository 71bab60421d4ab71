/**
 * A function that makes objects with these members, in this order, from their values. It is generated as an object
 * literal, so that all its objects have one hidden class: making them, and writing them as JSON, is several times as fast
 * as adding member by member. The names are those of a parsed document (letters, digits, underscores) and written as
 * string literals; `__proto__` would set the prototype instead and must not be among them.
 */
export function objectLiteral(
  names: readonly string[],
): (values: readonly unknown[]) => Record<string, unknown> {
  if (names.includes('__proto__')) throw new Error('__proto__ is no member of a literal');
  const members = names.map((name, index) => `${JSON.stringify(name)}: v[${index}]`);
  // oxlint-disable-next-line typescript/no-implied-eval -- see above
  return new Function('v', `return { ${members.join(', ')} };`) as (
    values: readonly unknown[],
  ) => Record<string, unknown>;
}
