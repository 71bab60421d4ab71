import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';

import type { Policy } from '../../schema/policy.ts';
import type { GraphqlAnswer } from '../kit/clients/requests.ts';

/** One call of each root field, made from the schema: what it names does not exist, and what it asks for can't be done. */

export type RuledField = Policy['fields'][number];

/** A call of one root field. */
export interface FieldCall {
  readonly field: RuledField;
  readonly query: string;
  /** The variable `$file` is to be sent as an upload. */
  readonly hasFile: boolean;
}

/** Arguments that name a user. */
const USERS = ['userId', 'onBehalfOf'];

/** Whether callers say with this field on whose behalf they ask. */
export function namesUser({ rule }: RuledField, field: GraphQLField<unknown, unknown>): boolean {
  return (rule === 'owner' || rule === 'unpaid') && field.args.some(({ name }) => USERS.includes(name));
}

/** The definition of a root field. */
export function findDefinition(
  schema: GraphQLSchema,
  { kind, name }: RuledField,
): GraphQLField<unknown, unknown> {
  const type = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[kind];
  const field = type?.getFields()[name];
  if (field === undefined) throw new Error(`there is no ${kind} ${name}`);
  return field;
}

/** Its required arguments with any values, given ones with theirs (as GraphQL text), and `userId` wherever a user is named. */
export function fieldCall(
  schema: GraphQLSchema,
  field: RuledField,
  {
    userId,
    given = {},
    selection,
  }: {
    readonly userId: string;
    readonly given?: Readonly<Record<string, string>>;
    readonly selection?: string;
  },
): FieldCall {
  const definition = findDefinition(schema, field);
  const named = namesUser(field, definition) ? USERS : [];
  const texts = definition.args.flatMap((argument) => {
    const text = given[argument.name] ?? writeArgument(argument, named, userId);
    return text === null ? [] : [`${argument.name}: ${text}`];
  });
  const hasFile = texts.some((text) => text.includes('$file'));
  const head = hasFile ? `${field.kind} ($file: Upload!)` : field.kind;
  const fields = isLeafType(getNamedType(definition.type)) ? '' : ` { ${selection ?? '__typename'} }`;
  const list = texts.length === 0 ? '' : `(${texts.join(', ')})`;
  return { field, hasFile, query: `${head} { ${field.name}${list}${fields} }` };
}

function writeArgument(argument: GraphQLArgument, named: readonly string[], userId: string): string | null {
  if (named.includes(argument.name)) return JSON.stringify(userId);
  return isRequiredArgument(argument) ? writeValue(argument.type) : null;
}

/** Blank texts are refused wherever a text costs money. */
function writeValue(type: GraphQLInputType): string {
  if (isNonNullType(type)) return writeValue(type.ofType);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const members = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{${members.map(({ name, type: of }) => `${name}: ${writeValue(of)}`).join(', ')}}`;
  }
  const values = { Int: '1', Float: '1', Boolean: 'true', JSON: '{}', ID: '"none"', Upload: '$file' };
  return values[getNamedType(type).name as keyof typeof values] ?? '" "';
}

/** Sends it by the way that its kind needs; of a stream the first event is enough. */
export async function sendField(
  url: string,
  { field, query, hasFile }: FieldCall,
  headers: Readonly<Record<string, string>>,
): Promise<GraphqlAnswer> {
  if (field.kind === 'subscription') return firstEvent(url, query, headers);
  const body = hasFile ? makeUpload(query) : JSON.stringify({ query });
  const type: Readonly<Record<string, string>> = hasFile
    ? { 'apollo-require-preflight': 'true' }
    : { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/graphql`, { method: 'POST', body, headers: { ...type, ...headers } });
  return (await answer.json()) as GraphqlAnswer;
}

function makeUpload(query: string): FormData {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { file: null } }));
  form.set('map', '{"file":["variables.file"]}');
  form.set('file', new Blob(['x']), 'x.txt');
  return form;
}

async function firstEvent(
  url: string,
  query: string,
  headers: Readonly<Record<string, string>>,
): Promise<GraphqlAnswer> {
  const address = `${url}/graphql?${new URLSearchParams({ query }).toString()}`;
  const answer = await fetch(address, { headers: { accept: 'text/event-stream', ...headers } });
  if (answer.body === null) throw new Error('an event stream has a body');
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const data = /^event: next$[^]*?^data: (.+)$/m.exec(text)?.[1];
    // Leaving the loop leaves the stream.
    if (data !== undefined) return JSON.parse(data) as GraphqlAnswer;
  }
  if (text.startsWith('{')) return JSON.parse(text) as GraphqlAnswer;
  throw new Error(`the stream ended before its first event: ${text}`);
}
