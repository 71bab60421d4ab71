import { ApolloClient, ApolloLink, InMemoryCache, Observable } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/preact';
import type { ReactElement } from 'react';

/** What an operation is answered with by its variables: its data, or an error with a code. */
type Answers = Readonly<Record<string, (variables: Readonly<Record<string, unknown>>) => object>>;

/**
 * Draws a part of the console, at an address of it, over a server with these answers; `askedFor` has the variables that an
 * operation was asked with.
 */
export function renderOverServer(answers: Answers, element: ReactElement, address = '/') {
  const asked: (readonly [string, Readonly<Record<string, unknown>>])[] = [];
  const link = new ApolloLink(
    ({ operationName = '', variables }) =>
      new Observable((observer) => {
        asked.push([operationName, variables]);
        const answer = answers[operationName]?.(variables);
        if (answer === undefined) return observer.error(new Error(`no answer to ${operationName}`));
        observer.next(
          'code' in answer ? { errors: [{ message: 'no', extensions: answer }] } : { data: answer as never },
        );
        observer.complete();
      }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const root = createRootRoute();
  const [path = '/'] = address.split('?');
  const page = createRoute({ getParentRoute: () => root, path, component: () => element });
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = createRouter({ routeTree: root.addChildren([page]), history });
  render(
    <ApolloProvider client={client}>
      <RouterProvider router={router as never} />
    </ApolloProvider>,
  );
  const askedFor = (name: string) => asked.filter(([one]) => one === name).map(([, variables]) => variables);
  return { askedFor, search: () => router.state.location.search };
}

/** Who asks, for useCaller. */
export const caller = (
  rights: {
    readonly kind?: 'USER' | 'KEY';
    readonly mayIssueKeys?: boolean;
    readonly mayAdministrate?: boolean;
  } = {},
) => ({
  caller: {
    __typename: 'Caller',
    id: 'usr_ada',
    kind: 'USER',
    mayStart: true,
    mayRunUnpaid: true,
    mayAdministrate: true,
    mayIssueKeys: true,
    ...rights,
  },
  viewer: { __typename: 'User', id: 'usr_ada', name: 'Ada', email: null },
});
