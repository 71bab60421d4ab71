/** A number from 0 to 2^32 - 1 that depends on nothing but these parts (FNV-1a over their JSON). */
export function hashParts(...parts: readonly unknown[]): number {
  const text = JSON.stringify(parts);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV's low bits follow the last character too closely to be used with a remainder.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
