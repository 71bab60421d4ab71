/** The names under which a parameter is accepted. Pure. */

const aliasGroups: readonly (readonly string[])[] = ['img', 'audio', 'video'].flatMap((short) => {
  const long = short === 'img' ? ['image'] : [];
  const names = [short, ...long];
  return [
    [`${short}_file`, ...long.map((name) => `${name}_file`), ...names],
    names.map((name) => `${name}_url`),
  ];
});

/** Every name under which a parameter is accepted, the documented one first. */
export function namesOf(name: string): readonly string[] {
  const group = aliasGroups.find((names) => names.includes(name)) ?? [];
  return [name, ...group.filter((alias) => alias !== name)];
}
