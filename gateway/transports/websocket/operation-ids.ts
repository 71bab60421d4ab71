/**
 * Makes the ids of one socket. A client may use an operation's id again as soon as it has completed that operation. graphql-ws
 * knows operations by id alone until their execution ends, so that the end of the old one would end the new one: such a new
 * one gets another id towards graphql-ws. `subscribed`: the operations that it knows and the client has not completed, by id.
 */
export function createOperationIds(subscribed: () => Readonly<Record<string, unknown>>) {
  /** Ids towards graphql-ws whose execution goes on. */
  const executing = new Set<string>();
  /** Ids towards graphql-ws by the client's, where they differ. */
  const replaced = new Map<string, string>();
  let count = 0;

  const isLeft = (id: string): boolean => executing.has(id) && !(id in subscribed());
  /** Without such operations no message is read here. */
  const isNeeded = (): boolean => replaced.size > 0 || [...executing].some(isLeft);
  const toClientId = (id: string): string =>
    [...replaced].find(([, replacement]) => replacement === id)?.[0] ?? id;

  return {
    /** A client's message as graphql-ws gets it. */
    toServer(text: string): string {
      const message = isNeeded() ? readMessage(text) : null;
      if (message === null) return text;
      const { id, type } = message;
      if (type === 'subscribe' && isLeft(replaced.get(id) ?? id)) {
        count += 1;
        // No client's id has a NUL by chance.
        replaced.set(id, `${id}\0${count}`);
      }
      return JSON.stringify({ ...message, id: replaced.get(id) ?? id });
    },
    /** Called when graphql-ws has taken a message, with the end of what it began. */
    taken(ended: Promise<void>): void {
      for (const id of Object.keys(subscribed())) {
        if (executing.has(id)) continue;
        executing.add(id);
        void ended.finally(() => {
          executing.delete(id);
          const clientId = toClientId(id);
          if (replaced.get(clientId) === id) replaced.delete(clientId);
        });
      }
    },
    /** A message of graphql-ws as the client gets it; null when it is of an operation that the client has completed. */
    toClient(text: string): string | null {
      const message = isNeeded() ? readMessage(text) : null;
      if (message === null) return text;
      return message.id in subscribed() ? JSON.stringify({ ...message, id: toClientId(message.id) }) : null;
    },
  };
}

/** A message about an operation; null for any other. */
function readMessage(text: string): { readonly id: string; readonly type: unknown } | null {
  try {
    const message = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const { id, type } = message;
    return typeof id === 'string' ? { ...message, id, type } : null;
  } catch {
    return null;
  }
}
