import { readFileSync } from 'node:fs';
import path from 'node:path';

import { ApolloProvider } from '@apollo/client/react';
import { RouterProvider } from '@tanstack/react-router';
import { cleanup, render, waitFor } from '@testing-library/preact';
import {
  buildSchema,
  execute,
  getNamedType,
  getNullableType,
  getOperationAST,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  isEnumType,
  isListType,
  isNonNullType,
  parse,
} from 'graphql';
import { vi } from 'vitest';

import { setCredential } from '../api/caller.ts';
import { client } from '../api/client.ts';
import { createConsoleRouter } from '../router.tsx';
import { endQueries } from './browser.ts';
import { sockets } from './socket.ts';

/**
 * The root fields of a server for tests, and of objects in them: what each is, or how it is made of its arguments. What is not
 * named is filled in.
 */
export type Fields = Readonly<Record<string, unknown>>;

const schema = buildSchema(
  readFileSync(path.join(import.meta.dirname, '../../../schema/client.graphql'), 'utf8'),
  {
    assumeValid: true,
  },
);

/** Every clock of the pages that are drawn stands here. */
export const NOW = new Date('2026-09-01T12:00:00Z');

/** A field as a test names it, else as one of its type: no test has to write what it does not look at. */
const fill: GraphQLFieldResolver<Fields, unknown> = (source, args, context, info) => {
  const given = source[info.fieldName];
  if (typeof given === 'function')
    return (given as (...asked: unknown[]) => unknown).call(source, args, context, info);
  if (given !== undefined) return given;
  if (!isNeverNull(info)) return null;
  if (isListType(getNullableType(info.returnType))) return [];
  const type = getNamedType(info.returnType);
  if (isEnumType(type)) return type.getValues()[0]?.value;
  return SCALARS[type.name] ?? {};
};

/** Whether it has a value wherever nothing has failed. */
function isNeverNull({ parentType, fieldName, returnType }: GraphQLResolveInfo): boolean {
  const { directives = [] } = parentType.getFields()[fieldName]?.astNode ?? {};
  return isNonNullType(returnType) || directives.some(({ name }) => name.value === 'semanticNonNull');
}

const SCALARS: Fields = {
  ID: 'an-id',
  String: 'a text',
  Int: 1,
  Float: 1,
  Boolean: false,
  DateTime: NOW.toISOString(),
  JSON: {},
};

/** A user of the server, who may start work and nothing of an administrator's. */
export const ADA: Fields = {
  caller: { id: 'usr_ada', kind: 'USER', mayStart: true, mayRunUnpaid: true },
  viewer: { id: 'usr_ada', name: 'Ada' },
};

/** Whoever may do everything. */
export const ADMINISTRATOR: Fields = {
  caller: {
    id: 'usr_root',
    kind: 'USER',
    mayStart: true,
    mayRunUnpaid: true,
    mayAdministrate: true,
    mayIssueKeys: true,
  },
  viewer: { id: 'usr_root', name: 'Grace' },
};

interface Asked {
  readonly name: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface ServerOptions {
  /** What other addresses of the server answer by their paths; 404 unless named. */
  readonly paths?: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>;
  /** Without a credential, as a visitor. */
  readonly isVisitor?: boolean;
}

/** An operation as it is sent. */
interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

/** The answer of a server with these root fields; notes what was asked. */
async function answer(
  rootValue: Fields,
  { query, variables = {}, operationName }: Operation,
  asked: Asked[],
): Promise<Response> {
  const document = parse(query);
  const name = operationName ?? getOperationAST(document)?.name?.value ?? '';
  asked.push({ name, variables });
  const result = await execute({
    schema,
    document,
    rootValue,
    variableValues: variables,
    operationName,
    fieldResolver: fill,
    typeResolver: (value) => (value as { readonly __typename: string }).__typename,
  });
  faults.push(...(result.errors ?? []).filter(isUnmeant).map((fault) => `${name}: ${fault.message}`));
  return Response.json(result);
}

/**
 * Opens the console at an address of it, as the browser would, over a server that has these root fields: every operation of the page
 * is executed by the schema of the clients. Subscriptions are open until `push` sends an event over them.
 */
export async function openConsole(
  address: string,
  root: Fields,
  { paths = {}, isVisitor = false }: ServerOptions = {},
) {
  const asked: Asked[] = [];
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  vi.stubGlobal('fetch', async (input: string | URL, init?: RequestInit) => {
    const request = new Request(new URL(input, location.href), init);
    const { pathname } = new URL(request.url);
    if (pathname === '/graphql')
      return answer({ ...ADA, ...root }, (await request.json()) as Operation, asked);
    return (await paths[pathname]?.(request)) ?? new Response('{}', { status: 404 });
  });
  history.replaceState(null, '', `/console${address}`);
  setCredential(isVisitor ? null : { kind: 'key', token: 'kiln_key', expiresAt: null });
  // What all pages share is asked again by who that is, before the page asks anything.
  await client.resetStore();
  asked.length = 0;
  const router = createConsoleRouter();
  render(
    <ApolloProvider client={client}>
      <RouterProvider router={router} />
    </ApolloProvider>,
  );
  return {
    /** The variables that an operation was asked with. */
    askedFor: (name: string) => asked.filter((one) => one.name === name).map(({ variables }) => variables),
    /** Where the console is now. */
    address: () => `${location.pathname}${location.search}`.slice('/console'.length),
    /** Sends an event to whoever follows a root field. */
    push: (field: string, event: unknown) => sockets.push(field, event),
    /** The variables that a root field is followed with now. */
    followedWith: (field: string) => sockets.followedWith(field),
    /** Until an operation has been asked so often. */
    hasAsked: (name: string, times = 1) =>
      waitFor(() => {
        const count = asked.filter((one) => one.name === name).length;
        if (count < times) throw new Error(`${name} was asked ${count} times`);
      }),
  };
}

/** What the schema did not take of the answers of a test: they are wrong. */
let faults: string[] = [];

/** A refusal of the server, with its code and what else its extensions say. */
export const refusal = (code: string, more: object = {}): GraphQLError =>
  new GraphQLError('no', { extensions: { code, ...more } });

const isUnmeant = ({ extensions }: GraphQLError): boolean => extensions['code'] === undefined;

/** Leaves nothing of a console behind; its queries that are on their way are dropped. For `afterEach`. */
export async function closeConsole(): Promise<void> {
  const [fault] = faults;
  faults = [];
  cleanup();
  endQueries();
  setCredential(null);
  await client.clearStore();
  sockets.forget();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  if (fault !== undefined) throw new Error(fault);
}
