import type { Client, SubscribePayload } from 'graphql-ws';

/**
 * After a lost connection graphql-ws subscribes again with the variables of the beginning. Here they move along with what
 * has arrived, so that a page which was open for days is sent what it has missed and nothing else. `onEvent` receives each event.
 */
export function resuming(client: Client, onEvent: () => void): Client {
  return {
    ...client,
    subscribe(payload, sink) {
      const own: SubscribePayload = { ...payload, variables: { ...payload.variables } };
      return client.subscribe(own, {
        ...sink,
        next(result) {
          moveOn(own, result);
          onEvent();
          sink.next(result as Parameters<typeof sink.next>[0]);
        },
      });
    },
  };
}

interface Numbered {
  readonly seq?: number;
  readonly cursor?: string;
}

function moveOn({ variables }: SubscribePayload, { data }: { readonly data?: unknown }) {
  if (!variables) return;
  const { tasksProgress, taskProgress } = (data ?? {}) as Readonly<Record<string, Numbered | undefined>>;
  if (taskProgress?.seq !== undefined) variables['afterSeq'] = taskProgress.seq;
  if (tasksProgress?.cursor !== undefined) variables['after'] = tasksProgress.cursor;
}
