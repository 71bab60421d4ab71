import type { IncomingHttpHeaders } from 'node:http';

import { type DocumentNode, getOperationAST } from 'graphql';

/** Request headers that become variables of every document which has them. */

interface VariableHeader {
  /** As documented; matched without regard to case. */
  readonly name: string;
  readonly variable: string;
  readonly description: string;
}

const variableHeaders: readonly VariableHeader[] = [
  {
    name: 'Idempotency-Key',
    variable: 'idempotencyKey',
    description: 'The same key and request again answer the same task instead of starting another.',
  },
  {
    name: 'X-Callback-Url',
    variable: 'callbackUrl',
    description:
      'Public http or https address that is told the end of the task by a signed POST (Standard Webhooks).',
  },
];

/** Those that a document takes. */
export function headersTakenBy(document: DocumentNode | null): readonly VariableHeader[] {
  const { variableDefinitions = [] } = (document && getOperationAST(document)) ?? {};
  const taken = variableDefinitions.map(({ variable }) => variable.name.value);
  return variableHeaders.filter(({ variable }) => taken.includes(variable));
}

/** The variables that the headers of a request give a document; an empty header counts as absent. */
export function headerVariables(
  document: DocumentNode,
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  const given = headersTakenBy(document).flatMap(({ name, variable }) => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' && value.trim() !== '' ? [[variable, value.trim()] as const] : [];
  });
  return Object.fromEntries(given);
}
