/**
 * Joins what several processes tell Prometheus: every sample gets the label `process` with its process's number, so
 * that sums are the reader's choice and what all read from one database is not counted several times.
 */
export function joinMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const [number, text] of texts) {
    let family = { head: [] as string[], samples: [] as string[] };
    for (const line of text.split('\n')) {
      const [, kind, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (kind === undefined) {
        if (line !== '') family.samples.push(withProcess(line, number));
        continue;
      }
      family = families.get(name) ?? { head: [], samples: [] };
      families.set(name, family);
      if (!family.head.includes(line)) family.head.push(line);
    }
  }
  return (
    [...families.values()].map(({ head, samples }) => [...head, ...samples].join('\n')).join('\n\n') + '\n'
  );
}

/** `name{labels} value` or `name value`. */
function withProcess(sample: string, number: number): string {
  const [, name = '', open = ''] = /^([^\s{]+)(\{\}?)?/.exec(sample) ?? [];
  const rest = sample.slice(name.length + open.length);
  const labels = `{process="${number}"`;
  return `${name}${labels}${open === '{' ? ',' : '}'}${rest}`;
}
