import type { ChatInput } from '@kiln/client';
import { useEffect, useMemo, useRef, useState } from 'react';

import { client } from '../../../api/client.ts';
import type { OneConversationQuery } from '../../../api/documents/operations.ts';
import {
  ConversationPartsFragmentDoc,
  ConversationsDocument,
  OneConversationDocument,
  SaveConversationDocument,
} from '../../../api/documents/studio.ts';
import { observe, kiln } from '../../../api/kiln.ts';
import { t, textOr } from '../../../text/text.ts';
import { endPending, noteConversation, notePending, findPending } from './kept-chats.ts';
import { tc } from './texts.ts';
import {
  createThread,
  NOTHING,
  type Settings,
  type Thread,
  type ThreadParts,
  type ThreadState,
} from './thread.ts';
import { branchTo, isEmpty, type Message, makeTitle, withoutOldImages } from './tree.ts';

/** A conversation, and what is shown of it: from the first message to the last of this branch. */
export interface OpenThread extends ThreadState, Omit<Thread, 'load' | 'leave'> {
  /** Asks for it, once more where that has failed. */
  readonly load: () => void;
  readonly branch: readonly Message[];
}

interface ThreadOptions {
  readonly id: string;
  /** Whether the server has it. */
  readonly isKept: boolean;
  readonly settings: Settings;
  /** Called with what was stored with it, once it is there. */
  readonly onLoaded: (settings: Settings) => void;
  /** Called when it is in the history. */
  readonly onKept: () => void;
}

/** One conversation; another id needs another component. */
export function useThread(options: ThreadOptions): OpenThread {
  const { id, isKept } = options;
  const [state, setState] = useState<ThreadState>(NOTHING);
  // Answers come later than the drawing that has begun them.
  const now = useRef(options);
  useEffect(() => {
    now.current = options;
  });
  const thread = useMemo(
    () =>
      createThread({
        ...serverParts(id, () => now.current.onKept()),
        settings: () => now.current.settings,
        onLoaded: (settings) => now.current.onLoaded(settings),
        onChange: setState,
      }),
    [id],
  );
  const load = () =>
    void thread.load().catch((problem: unknown) => setState((before) => ({ ...before, problem })));
  useEffect(() => {
    if (isKept) load();
    return () => {
      thread.leave();
      // Who has gone elsewhere is not led back when it is kept.
      now.current = { ...now.current, onKept: () => undefined };
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it is kept once something was said, and not loaded for that
  }, [thread]);
  return { ...state, ...thread, load, branch: branchTo(state.messages, state.currentId) };
}

/** The server, and what the browser keeps. */
function serverParts(
  id: string,
  onKept: () => void,
): Omit<ThreadParts, 'settings' | 'onChange' | 'onLoaded'> {
  return {
    async load() {
      const { data } = await client.query({
        query: OneConversationDocument,
        variables: { id },
        fetchPolicy: 'no-cache',
      });
      if (data === undefined) throw new Error(t('problem.noAnswer'));
      const { conversation, conversationMessages: messages } = data;
      const currentId = conversation.currentId ?? messages.at(-1)?.id ?? null;
      return { title: conversation.title, messages, currentId, settings: readSettings(conversation) };
    },
    async save({ title, currentId, messages: all }, settings, messages) {
      noteConversation(id);
      // The answer that is being made is not kept yet.
      const current = all.find((one) => one.id === currentId);
      const isKept =
        messages.some((one) => one.id === currentId) || current === undefined || !isEmpty(current);
      const kept = isKept ? currentId : (current?.parentId ?? null);
      const input = {
        ...settings,
        title: renamed(id) ?? title,
        currentId: kept,
        messages: messages.map(drafted),
      };
      await client.mutate({
        mutation: SaveConversationDocument,
        variables: { id, input },
        refetchQueries: [ConversationsDocument],
      });
      onKept();
    },
    stream(key, { settings, branch }, { piece, failed, ended }) {
      const { generator, model, ...rest } = settings;
      const input = {
        generator,
        model,
        conversation: withoutOldImages(branch).map(typed),
        ...withoutNothing(rest),
      } as ChatInput;
      return observe((signal) => kiln.chat(input, { idempotencyKey: key, signal }), {
        next({ seq, delta, reply, error: why }) {
          const problem = why === null ? null : new Error(textOr(`error.${why.code}`, why.message));
          piece({ seq, delta, whole: reply && { ...reply, files: reply.media }, error: problem });
        },
        error: failed,
        complete: ended,
      });
    },
    pending: { note: notePending, end: endPending, of: findPending },
    makeTitle: (text) => makeTitle(text, tc('chat.untitled')),
  };
}

/** The name that the history knows: it may have been given one while it was open. */
function renamed(id: string): string | undefined {
  const of = { id: `Conversation:${id}`, fragment: ConversationPartsFragmentDoc };
  return client.cache.readFragment(of)?.title;
}

function readSettings(kept: OneConversationQuery['conversation']): Settings {
  const { generator, system, temperature, maxTokens } = kept;
  const options = kept.options ?? null;
  return { generator, model: kept.model ?? '', system, temperature, maxTokens, options };
}

/** As the server keeps it. */
function drafted({ id, parentId, role, text, model, files }: Message) {
  return { id, parentId, role, text, model, mediaIds: files.map((file) => file.id) };
}

/** As the server sends it to the model. */
function typed({ role, text, files }: Message) {
  if (files.length === 0) return { role, text };
  const words = text === '' ? [] : [{ text }];
  return { role, parts: [...words, ...files.map(({ id }) => ({ fileId: id }))] };
}

function withoutNothing<Values extends object>(values: Values): Partial<Values> {
  const given = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return Object.fromEntries(given) as Partial<Values>;
}
