import { useEffect, useRef, useState } from 'react';

import { client } from '../../../api/client.ts';
import { ChatStreamDocument } from '../../../api/operations.ts';
import { problemText } from '../../../parts/problem.tsx';
import type { Options } from '../../../work/options/values.ts';
import type { Model } from '../../../work/work.ts';

/** One message of a conversation. */
export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A conversation with a language model, whose answer grows as it comes. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly isAnswering: boolean;
  readonly problem: string | null;
  readonly send: (model: Model, content: string, options?: Options) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** A message as the schema has it. */
function typed({ role, content }: Message) {
  return { role: ROLES[role], text: content };
}

const ROLES = { user: 'USER', assistant: 'ASSISTANT' } as const;

/** Talks with a language model, going on from what was said. A lost connection replays the pieces by their key; nothing is paid twice. */
export function useChat(
  begun: readonly Message[],
  onChange: (messages: readonly Message[]) => void,
): Conversation {
  const [messages, setMessages] = useState(begun);
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  useEffect(() => tell.current(messages), [messages]);
  const [isAnswering, setIsAnswering] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const running = useRef<{ unsubscribe(): void } | null>(null);
  useEffect(() => () => running.current?.unsubscribe(), []);

  function stop(): void {
    running.current?.unsubscribe();
    running.current = null;
    setIsAnswering(false);
  }

  function send({ generator, model }: Model, content: string, options?: Options): void {
    const request: readonly Message[] = [...messages, { role: 'user', content }];
    const pieces = new Map<number, string>();
    setMessages([...request, { role: 'assistant', content: '' }]);
    setProblem(null);
    setIsAnswering(true);
    const variables = {
      key: crypto.randomUUID(),
      input: {
        generator,
        model,
        conversation: request.map(typed),
        ...(options !== undefined && { options }),
      },
    };
    running.current = client.subscribe({ query: ChatStreamDocument, variables }).subscribe({
      next({ data, error }) {
        if (error !== undefined) return fail(problemText(error));
        const chunk = data?.chatStream;
        if (chunk === undefined) return;
        // By number, as a replay sends them again.
        pieces.set(chunk.seq, chunk.delta);
        const text =
          chunk.reply?.text ??
          [...pieces]
            .sort(([one], [other]) => one - other)
            .map(([, delta]) => delta)
            .join('');
        setMessages([...request, { role: 'assistant', content: text }]);
        if (chunk.error !== null) fail(chunk.error.message);
      },
      error: (error: unknown) => fail(problemText(error)),
      complete: stop,
    });
  }

  function fail(message: string): void {
    setProblem(message);
    stop();
  }

  return { messages, isAnswering, problem, send, stop, clear: () => setMessages([]) };
}
