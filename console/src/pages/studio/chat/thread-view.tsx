import { useEffect, useRef, useState } from 'react';

import { Icon } from '../../../parts/icons.tsx';
import { Button, buttonLook } from '../../../parts/looks/button.tsx';
import { Select } from '../../../parts/looks/inputs.tsx';
import { Note } from '../../../parts/looks/panels.tsx';
import { problemText } from '../../../parts/problem.tsx';
import { providerName } from '../../../parts/provider-name.ts';
import { saveAs } from '../../../parts/save-as.ts';
import { t } from '../../../text/text.ts';
import { sentOptions } from '../../../work/options/fields.ts';
import type { Model } from '../../../work/work.ts';
import { Composer } from './composer.tsx';
import { type ChatDraft, keepChats, keptChats } from './kept-chats.ts';
import { MessageView } from './message.tsx';
import { ChatSettings, makeChatOptions } from './settings.tsx';
import { tc } from './texts.ts';
import type { Settings } from './thread.ts';
import { toFileName, writeMarkdown } from './tree.ts';
import { type OpenThread, useThread } from './use-thread.ts';

interface ThreadViewProps {
  readonly id: string;
  readonly isKept: boolean;
  readonly choices: readonly Model[];
  readonly onKept: () => void;
  readonly onNew: () => void;
  readonly onList: () => void;
}

/** One conversation. */
export function ThreadView({ id, isKept, choices, onKept, onNew, onList }: ThreadViewProps) {
  const [draft, setDraft] = useState(keptChats);
  const [isSet, setIsSet] = useState(false);
  const change = (next: Partial<ChatDraft>) => setDraft(keepChats(next));
  const model = choices.find((one) => modelKey(one) === draft.key) ?? choices[0];
  const thread = useThread({
    id,
    isKept,
    settings: makeSettings(draft, model),
    onLoaded: (settings) => change(makeDraft(settings, choices)),
    onKept,
  });
  if (model === undefined) return null;
  const { branch, problem } = thread;
  const isAnswering = thread.answering !== null;
  return (
    <section
      className="mx-auto flex min-h-0 w-full max-w-[calc(var(--read-w)+96px)] min-w-0 flex-col gap-3 px-6 pt-3 pb-4 max-sm:px-4 max-sm:pt-2 max-sm:pb-3"
      aria-label={thread.title === '' ? tc('chat.new') : thread.title}
    >
      <header className="flex items-center gap-2">
        <Button kind="ghost" icon className="md:hidden" label={tc('chat.history')} onClick={onList}>
          <Icon name="menu" />
        </Button>
        <Select
          width="w-auto max-w-80 min-w-0 max-sm:flex-1"
          aria-label={t('studio.model')}
          value={modelKey(model)}
          onChange={({ target }) => change({ key: target.value })}
          options={choices.map((one) => [modelKey(one), `${one.name} · ${providerName(one.provider)}`])}
        />
        <Button
          size="small"
          className="ml-auto"
          aria-label={tc('chat.settings')}
          onClick={() => setIsSet(true)}
        >
          <Icon name="filter" size={14} />
          <span className="max-sm:hidden">{tc('chat.settings')}</span>
        </Button>
        {branch.length > 0 && <Export thread={thread} />}
        <Button size="small" className="md:hidden" aria-label={tc('chat.new')} onClick={onNew}>
          <Icon name="plus" size={14} />
        </Button>
      </header>
      <Log thread={thread} onIdea={(text) => thread.say(text, [], null)} />
      {problem !== null && <Failed thread={thread} />}
      <Composer
        accept={listAccepted(model)}
        isAnswering={isAnswering}
        isWaiting={thread.isLoading}
        onSend={(text, files) => thread.say(text, files, branch.at(-1)?.id ?? null)}
        onStop={thread.stop}
      />
      {isSet && (
        <ChatSettings model={model} draft={draft} onChange={change} onClose={() => setIsSet(false)} />
      )}
    </section>
  );
}

/** Pixels from its end within which a growing answer keeps the end in sight. */
const NEAR = 120;
const IDEAS = ['chat.idea1', 'chat.idea2', 'chat.idea3'] as const;

function Log({ thread, onIdea }: { readonly thread: OpenThread; readonly onIdea: (text: string) => void }) {
  const { branch, isLoading } = thread;
  const isAnswering = thread.answering !== null;
  const log = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  useEffect(() => {
    const { current } = log;
    const content = current?.firstElementChild;
    if (!current || !content) return undefined;
    // What is drawn later, such as Markdown and images, grows without a change here.
    const grown = new ResizeObserver(() => {
      if (isNear.current) current.scrollTop = current.scrollHeight;
    });
    grown.observe(content);
    return () => grown.disconnect();
  }, []);
  return (
    <div
      ref={log}
      className="flex-1 min-h-0 overflow-y-auto py-3 px-0 text-14 font-normal"
      role="log"
      aria-live="polite"
      aria-busy={isAnswering || (isLoading && thread.problem === null)}
      tabIndex={-1}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isNear.current = scrollHeight - scrollTop - clientHeight < NEAR;
      }}
    >
      <div className="flex flex-col gap-5 min-h-full">
        {branch.length === 0 && !isLoading && (
          <div className="m-auto flex flex-col items-center gap-4 text-center">
            <h2 className="text-20 font-semibold">{tc('chat.empty')}</h2>
            <div className="flex flex-wrap gap-2 justify-center">
              {IDEAS.map((idea) => (
                <Button key={idea} wraps onClick={() => onIdea(tc(idea))}>
                  {tc(idea)}
                </Button>
              ))}
            </div>
          </div>
        )}
        {branch.map((message, index) => (
          <MessageView
            key={message.id}
            message={message}
            thread={thread}
            isGrowing={isAnswering && index === branch.length - 1}
          />
        ))}
      </div>
    </div>
  );
}

function Failed({ thread }: { readonly thread: OpenThread }) {
  const last = thread.branch.at(-1);
  const asked = last?.role === 'USER' && thread.answering === null ? () => thread.answer(last) : null;
  const again = thread.isLoading ? thread.load : asked;
  return (
    <Note tone="bad" role="alert">
      <Icon name="warning" />
      <p className="flex-1 min-w-0">{problemText(thread.problem)}</p>
      {again !== null && (
        <Button size="small" onClick={again}>
          {t('page.tryAgain')}
        </Button>
      )}
    </Note>
  );
}

function Export({ thread }: { readonly thread: OpenThread }) {
  const { title, branch, messages } = thread;
  const names = { USER: tc('chat.user'), ASSISTANT: tc('chat.assistant') };
  return (
    <details className="relative [&>summary]:list-none [&>summary]:cursor-pointer">
      <summary
        className={buttonLook({ size: 'small' })}
        aria-label={tc('chat.export')}
        title={tc('chat.export')}
      >
        <Icon name="download" size={14} />
      </summary>
      <div className="absolute right-0 top-[calc(100%_+_4px)] [z-index:var(--z-popover)] flex flex-col items-stretch p-1 bg-raised rounded-panel shadow-[var(--shadow-2)] [&_:is(a,button)]:justify-start">
        <Button
          kind="ghost"
          size="small"
          onClick={() => {
            const file = new Blob([writeMarkdown(title, branch, names)], { type: 'text/markdown' });
            saveAs(file, `${toFileName(title)}.md`);
          }}
        >
          {tc('chat.exportMarkdown')}
        </Button>
        <Button
          kind="ghost"
          size="small"
          onClick={() => {
            const file = new Blob([JSON.stringify({ title, messages }, null, 2)], {
              type: 'application/json',
            });
            saveAs(file, `${toFileName(title)}.json`);
          }}
        >
          {tc('chat.exportJson')}
        </Button>
      </div>
    </details>
  );
}

function modelKey({ generator, id }: Model): string {
  return `${generator} ${id}`;
}

/** What is sent: nothing that the model does not take. */
function makeSettings(draft: ChatDraft, model: Model | undefined): Settings {
  const takes = (input: string) => model?.inputs.includes(input) === true;
  const number = (input: string, text: string) => (takes(input) && text !== '' ? Number(text) : null);
  const options = model === undefined ? undefined : sentOptions(draft.options, makeChatOptions(model));
  return {
    generator: model?.generator ?? '',
    model: model?.model ?? '',
    system: takes('system') && draft.system.trim() !== '' ? draft.system : null,
    temperature: number('temperature', draft.temperature),
    maxTokens: number('maxTokens', draft.maxTokens),
    options: options ?? null,
  };
}

/** What was kept with a conversation, as its form has it. */
function makeDraft(settings: Settings, choices: readonly Model[]): Partial<ChatDraft> {
  const { generator, model, system, temperature, maxTokens, options } = settings;
  const choice = choices.find((one) => one.generator === generator && one.model === model);
  return {
    ...(choice !== undefined && { key: modelKey(choice) }),
    system: system ?? '',
    temperature: temperature === null ? '' : String(temperature),
    maxTokens: maxTokens === null ? '' : String(maxTokens),
    options: options ?? {},
  };
}

/** The kinds of files that a model takes. */
function listAccepted({ inputs }: Model): string {
  return ['image', 'audio', 'video']
    .filter((kind) => inputs.includes(kind))
    .map((kind) => `${kind}/*`)
    .join(',');
}
