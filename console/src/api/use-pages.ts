import type { OperationVariables, TypedDocumentNode } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import { useState } from 'react';

/** What every list of the API has. */
interface Page {
  readonly edges: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A list that is read page by page. */
export interface Pages<Connection extends Page = Page> {
  /** The pages so far as one; those of the filter before until the answer to another has come. Undefined before the first. */
  readonly list: Connection | undefined;
  readonly edges: Connection['edges'];
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Adds the next page; null when there is none. */
  readonly more: (() => void) | null;
  /** Begins anew at the first page; rejects when that fails. */
  readonly refetch: () => Promise<unknown>;
}

interface PagesOptions<Variables> {
  readonly variables: Omit<Variables, 'after'>;
  readonly skip?: boolean;
  /** How many a further page has; as the first unless said otherwise. */
  readonly next?: number;
  /** Keeps the list beside the client's cache, for one whose items a feed replaces: it is asked for at each visit. */
  readonly isUncached?: boolean;
}

/** Follows a list by the query that has it as its field `name`; a query without an answer yet is skipped by `skip`. */
export function usePages<Connection extends Page, Name extends string, Variables extends OperationVariables>(
  document: TypedDocumentNode<Readonly<Record<Name, Connection>>, Variables>,
  name: Name,
  { variables, skip = false, next, isUncached = false }: PagesOptions<Variables>,
): Pages<Connection> {
  const query = document as unknown as TypedDocumentNode<
    Readonly<Record<string, Connection>>,
    OperationVariables
  >;
  const { data, previousData, error, loading, fetchMore, refetch } = useQuery(query, {
    variables,
    skip,
    fetchPolicy: isUncached ? 'no-cache' : 'cache-and-network',
  });
  const [failure, setFailure] = useState<unknown>(undefined);
  const list = (data ?? previousData)?.[name];
  const more = () => {
    if (loading) return;
    setFailure(undefined);
    fetchMore({
      variables: { after: list?.pageInfo.endCursor ?? null, ...(next !== undefined && { first: next }) },
      updateQuery: (before, { fetchMoreResult }) => joined(before, fetchMoreResult, name),
    }).catch(setFailure);
  };
  return {
    list,
    edges: list?.edges ?? [],
    error: error ?? failure,
    isLoading: loading,
    more: list?.pageInfo.hasNextPage === true ? more : null,
    refetch,
  };
}

/** The list with the next page at its end; its totals are the newer ones. */
function joined<Connection extends Page>(
  before: unknown,
  after: unknown,
  name: string,
): Readonly<Record<string, Connection>> {
  const [first, next] = [before, after].map((data) => (data as Readonly<Record<string, Connection>>)[name]);
  if (first === undefined || next === undefined) return after as Readonly<Record<string, Connection>>;
  return { [name]: { ...next, edges: [...first.edges, ...next.edges] } };
}

/** As far as the server counts a list: one more says that there are more. */
const MOST_COUNTED = 10_000;

/** A total in words, such as `10,000+`. */
export function formatTotal(total: number): string {
  return total > MOST_COUNTED ? `${MOST_COUNTED.toLocaleString()}+` : total.toLocaleString();
}

/** How many there are: the server's total, and those of the `added` ones that it was told too early to hold. */
export function useTotal(total: number | null, added: number): number | null {
  const [counted, setCounted] = useState({ total, added: 0 });
  if (counted.total !== total) {
    setCounted({ total, added: counted.total === null ? 0 : added });
  }
  const held = counted.total === total ? counted.added : counted.total === null ? 0 : added;
  return total === null ? null : total + Math.max(0, added - held);
}
