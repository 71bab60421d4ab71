import { type KeyboardEvent, useState } from 'react';

import { Icon } from '../../../parts/icons.tsx';
import { Empty } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { current } from '../../../work/ending.ts';
import { createKeeper } from '../../../work/keeper.ts';
import { type OptionFields, optionFieldsOf } from '../../../work/options/fields.ts';
import { sentOptions } from '../../../work/options/values.ts';
import type { Model } from '../../../work/work.ts';
import { OptionsFields } from '../form/options/options-fields.tsx';
import { type Message, useChat } from './use-chat.ts';

/** What a conversation holds, kept in this browser for each account. */
interface ChatDraft {
  readonly key: string;
  readonly words: string;
  readonly options: unknown;
  readonly messages: readonly Message[];
}

const EMPTY: ChatDraft = { key: '', words: '', options: {}, messages: [] };
/** Most messages that a reload brings back. */
const MOST_KEPT = 100;
const chats = createKeeper<ChatDraft>('kiln.chats');

/** A conversation with one of the language models. */
export function Chat({ models }: { readonly models: readonly Model[] }) {
  const choices = current(models).filter(({ kinds }) => kinds.includes('CHAT'));
  const [draft, setDraft] = useState<ChatDraft>(() => chats.read('chat') ?? EMPTY);
  const { words, options } = draft;
  const change = (next: Partial<ChatDraft>) =>
    setDraft((before) => {
      const after = { ...before, ...next };
      chats.write('chat', after);
      return after;
    });
  const chat = useChat(draft.messages, (messages) => change({ messages: messages.slice(-MOST_KEPT) }));
  const model = choices.find((one) => keyOf(one) === draft.key) ?? choices[0];
  if (model === undefined) return <Empty title={t('studio.noModels')} text={t('studio.noModelsText')} />;
  const key = keyOf(model);
  const send = () => {
    if (words.trim() === '' || chat.isAnswering) return;
    chat.send(model, words, sentOptions(options, optionsOf(model)));
    change({ words: '' });
  };
  return (
    <div className="chat">
      <div className="row">
        <label className="lab whitespace-nowrap" htmlFor="chat-model">
          {t('studio.model')}
        </label>
        <select
          id="chat-model"
          className="in max-w-80 min-w-0"
          value={key}
          onChange={({ target }) => change({ key: target.value })}
        >
          {choices.map((one) => (
            <option key={keyOf(one)} value={keyOf(one)}>
              {one.name} · {one.generator}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="btn sm push"
          onClick={chat.clear}
          disabled={chat.messages.length === 0 || chat.isAnswering}
        >
          {t('chat.new')}
        </button>
      </div>
      <div className="chat-options">
        <OptionsFields
          fields={optionsOf(model)}
          of={key}
          options={options}
          problems={{}}
          onChange={(next) => change({ options: next })}
        />
      </div>
      <div className="chat-log" role="log" aria-live="polite" aria-busy={chat.isAnswering}>
        {chat.messages.length === 0 && <Empty title={t('chat.empty')} />}
        {chat.messages.map(({ role, content }, index) => (
          <div key={index} className={`said ${role}`}>
            <span className="vh">{t(`chat.${role}`)}</span>
            <p className="whitespace-pre-wrap">{content === '' ? '…' : content}</p>
          </div>
        ))}
        {chat.problem !== null && (
          <p className="note bad" role="alert">
            {chat.problem}
          </p>
        )}
      </div>
      <div className="chat-say">
        <textarea
          className="in"
          aria-label={t('chat.say')}
          placeholder={t('chat.say')}
          value={words}
          onChange={({ target }) => change({ words: target.value })}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <button type="button" className="btn pri" onClick={chat.isAnswering ? chat.stop : send}>
          <Icon name={chat.isAnswering ? 'close' : 'chat'} />
          {t(chat.isAnswering ? 'chat.stop' : 'chat.send')}
        </button>
      </div>
    </div>
  );
}

/** All of them are folded away: the conversation has the room. */
function optionsOf({ optionsSchema }: Model): OptionFields {
  const { first, more } = optionFieldsOf({ kind: 'CHAT', schema: optionsSchema, members: [] });
  return { first: [], more: [...first, ...more] };
}

function keyOf({ generator, id }: Model): string {
  return `${generator} ${id}`;
}
