import { Kind, type OperationDefinitionNode, parse } from 'graphql';

import { SIGN_INS } from '../../platform/access/root-field-rates.ts';
import { readCell } from '../../platform/ids.ts';
import { isObject } from '../../platform/json.ts';
import type { OperationRequest } from '../transports/admission/read-operation.ts';
import type { Cells } from './cells-file.ts';

/** Which cell a request is for, by the ids that it names. Pure. */

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** The same without hyphens, as batches of calls have it. */
const BATCH_IDS = /batch_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})/g;
/** String values of a document that are nothing but an id. */
const QUOTED_UUIDS = /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/gi;
/** A value that is an id, or what MCP's clients know it by. */
const ID_OR_ADDRESS = /^(?:kiln:\/\/(?:tasks|media)\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
/** Values that callers make up themselves. */
const OWN_CHOICE = /key$|^(?:client_id|metadata|safety_identifier|user)$/i;
/** Most values of variables, or of a body, that are looked at. */
const MAX_VALUES = 10_000;

/** Root fields that only the home cell can answer: accounts, sessions and keys are there. */
const HOME_FIELDS: ReadonlySet<string> = new Set([
  ...SIGN_INS,
  'createServiceKey',
  'endUserSessions',
  'revokeServiceKey',
  'rotateServiceKey',
  'serviceKeys',
  'sessions',
  'signingKeys',
  'signOutUrl',
  'users',
  'userSessions',
  'viewer',
]);
const MAY_BE_HOME = new RegExp(`\\b(?:${[...HOME_FIELDS].join('|')})\\b`);

/**
 * The other cell that a request is for by its address: the one that `?cell=` names, or that of the ids in it; null for this
 * one. Ids of several cells stay here, where those of others are not found.
 */
export function cellOfAddress(url: string, cells: Cells): number | null {
  const [path = '', query = ''] = url.split('?', 2);
  const named = /(?:^|&)cell=(\d{1,3})(?:&|$)/.exec(query)?.[1];
  if (named !== undefined) return otherCell(new Set([Number(named)]), cells);
  if (/\/auth\//.test(path)) return otherCell(new Set([cells.home]), cells);
  const ids = [
    ...(url.match(UUIDS) ?? []),
    ...[...url.matchAll(BATCH_IDS)].map(([, ...parts]) => parts.join('-')),
  ];
  return otherCell(new Set(ids.flatMap((id) => readCell(id) ?? [])), cells);
}

/** The other cell that a GraphQL operation is for: that of the ids among its values, or the home cell for accounts; null for this one. */
export function cellOfOperation(operation: OperationRequest, cells: Cells): number | null {
  return cellOfOperations([operation], cells);
}

/** The same of all operations of a batch together. */
export function cellOfOperations(operations: readonly OperationRequest[], cells: Cells): number | null {
  const ids = operations.flatMap(({ query, variables }) => [
    ...[...query.matchAll(QUOTED_UUIDS)].map(([, id = '']) => id),
    ...idsIn(variables),
  ]);
  const found = new Set(ids.flatMap((id) => readCell(id) ?? []));
  if (found.size > 0 || operations.length === 0 || cells.home === cells.own) return otherCell(found, cells);
  return operations.every(({ query }) => isForHome(query)) ? cells.home : null;
}

/** The other cell that named values are for, such as the members of a body or the fields of a form; null for this one. */
export function cellOfValues(values: readonly (readonly [string, unknown])[], cells: Cells): number | null {
  const looked = values.filter(([name]) => !OWN_CHOICE.test(name)).map(([, value]) => value);
  return otherCell(new Set(idsIn(looked).flatMap((id) => readCell(id) ?? [])), cells);
}

/** Whether a text has what makes it a request for another cell: looked at before it is parsed, as most have not. */
export function mayNameOthers(text: string, cells: Cells): boolean {
  if (cells.home !== cells.own && MAY_BE_HOME.test(text)) return true;
  return [...text.matchAll(UUIDS)].some(
    ([id]) => otherCell(new Set([readCell(id) ?? cells.own]), cells) !== null,
  );
}

/** Names of MCP: the address of a resource, and what clients say of themselves. */
const RESOURCE = 'uri';
const OF_THE_PROTOCOL = '_meta';

/** The other cell that a message of MCP, or a batch of them, is for: that of the tasks and files among its parameters; null for this one. */
export function cellOfMessage(message: unknown, cells: Cells): number | null {
  const ids = [message].flat().flatMap(idsInMessage);
  return otherCell(new Set(ids.flatMap((id) => readCell(id) ?? [])), cells);
}

function idsInMessage(message: unknown): readonly string[] {
  const { params } = Object(message) as { readonly params?: unknown };
  if (!isObject(params)) return [];
  const { [RESOURCE]: uri, [OF_THE_PROTOCOL]: _, ...values } = params;
  return [...(typeof uri === 'string' ? (uri.match(UUIDS) ?? []) : []), ...idsIn(values)];
}

function otherCell(found: ReadonlySet<number>, { own, urls }: Cells): number | null {
  const [cell] = found;
  return found.size === 1 && cell !== undefined && cell !== own && urls.has(cell) ? cell : null;
}

function idsIn(values: unknown): string[] {
  const ids: string[] = [];
  const open: unknown[] = [values];
  for (let looked = 0; open.length > 0 && looked < MAX_VALUES; looked++) {
    const value = open.pop();
    if (typeof value === 'string') ids.push(...(ID_OR_ADDRESS.exec(value)?.slice(1) ?? []));
    else if (Array.isArray(value)) open.push(...(value as unknown[]).slice(0, MAX_VALUES));
    else if (isObject(value))
      for (const [name, member] of Object.entries(value)) if (!OWN_CHOICE.test(name)) open.push(member);
  }
  return ids;
}

/** Whether all root fields of a document's only operation are of the home cell. */
function isForHome(query: string): boolean {
  if (!MAY_BE_HOME.test(query)) return false;
  try {
    const operations = parse(query, { noLocation: true, maxTokens: 4_000 }).definitions.filter(
      (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
    );
    const [only, ...others] = operations;
    return (
      only !== undefined &&
      others.length === 0 &&
      only.selectionSet.selections.every(
        (field) => field.kind === Kind.FIELD && HOME_FIELDS.has(field.name.value),
      )
    );
  } catch {
    // Whoever serves it says what is wrong with it.
    return false;
  }
}
