/** Whether a name fits one of the patterns, in which * stands for anything. Pure, in time that grows with both lengths. */
export function isAllowed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name));
}

function fits([first = '', ...others]: readonly string[], name: string): boolean {
  const last = others.at(-1);
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of others.slice(0, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
