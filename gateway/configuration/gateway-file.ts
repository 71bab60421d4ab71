import { readFileSync } from 'node:fs';
import path from 'node:path';

import { readCheckedFile, reportIssue } from '../../platform/config/checked-file.ts';
import { parseYamlWithLines } from '../../platform/config/parse-with-lines.ts';
import type { GeneratorsFileText } from '../../platform/config/text-file.ts';
import { toError } from '../../platform/errors.ts';
import { type GatewayFile, gatewayFileSchema } from './gateway-file.schema.ts';
import { HEADER_VALUE, type HeaderRule, REFUSED_VALUE } from './subgraph.schema.ts';

/** Reads `--config FILE`. Throws NOT_CONFIGURED with every mistake: its line, its field and the remedy. */
export function readGatewayFile(file: GeneratorsFileText, subgraphs: readonly string[]): GatewayFile {
  return readCheckedFile({ setting: '--config', parse: parseYamlWithLines, ...file }, ({ value }, report) => {
    const { data, error } = gatewayFileSchema.safeParse(value ?? {});
    for (const issue of error?.issues ?? []) reportIssue(issue, report, findOwner(issue.path));
    if (data === undefined) return {};
    for (const name of Object.keys(data.subgraphs ?? {})) {
      if (!subgraphs.includes(name))
        report(['subgraphs', name], `is no subgraph of the supergraph: it has ${subgraphs.join(', ')}`);
    }
    const filled = (rules: readonly HeaderRule[] | undefined, at: readonly string[]) =>
      rules?.map((rule, index) =>
        withVariables(rule, file, (message) => report([...at, index, 'value'], message)),
      );
    return {
      ...data,
      headers: filled(data.headers, ['headers']),
      subgraphs: Object.fromEntries(
        Object.entries(data.subgraphs ?? {}).map(([name, one]) => [
          name,
          {
            ...one,
            headers: filled(one.headers, ['subgraphs', name, 'headers']),
            subscriptions: one.subscriptions && {
              ...one.subscriptions,
              connectionParams: filled(one.subscriptions.connectionParams, [
                'subgraphs',
                name,
                'subscriptions',
                'connectionParams',
              ]),
            },
            tls:
              one.tls &&
              readTls(one.tls, file.path, (at, message) => report(['subgraphs', name, 'tls', at], message)),
          },
        ]),
      ),
    };
  });
}

function findOwner(path: readonly PropertyKey[]): string {
  if (['headers', 'responseHeaders', 'connectionParams'].some((part) => path.includes(part))) return 'a rule';
  if (path[0] === 'subgraphs' && typeof path[2] === 'string') return path[2];
  if (path[0] === 'subgraphs') return 'a subgraph';
  if (path[0] === 'authentication')
    return path[1] === 'issuers' ? 'an issuer' : path[1] === 'policies' ? 'a policy' : 'authentication';
  return path[0] === 'limits' ? 'limits' : 'the file';
}

/** An inserted value with its environment variables. */
function withVariables(
  rule: HeaderRule,
  { variables }: Pick<GeneratorsFileText, 'variables'>,
  report: (message: string) => void,
): HeaderRule {
  if (!('insert' in rule)) return rule;
  const value = rule.value.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => {
    const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (text === undefined)
      report(`refers to \${${name}}, which is not set: set it in the environment, or write the value`);
    return text ?? '';
  });
  // Secrets read from files often end in a line break.
  if (!HEADER_VALUE.test(value)) report(REFUSED_VALUE);
  return { ...rule, value };
}

/** Reads the certificates that the file names, from where it is; what can't be read is reported. The paths become their PEM. */
function readTls<Names extends Readonly<Record<string, string | undefined>>>(
  names: Names,
  configFile: string,
  report: (name: string, message: string) => void,
): Names {
  const read = Object.entries(names).map(([name, file]) => {
    if (file === undefined) return [name, undefined];
    try {
      return [name, readFileSync(path.resolve(path.dirname(configFile), file), 'utf8')];
    } catch (error) {
      report(name, `names a file that can't be read: ${toError(error).message}`);
      return [name, undefined];
    }
  });
  return Object.fromEntries(read) as Names;
}
