import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { Modal } from '../../../parts/controls/modal.tsx';
import { Empty } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { current } from '../../../work/model-words.ts';
import type { Model } from '../../../work/work.ts';
import { History } from './history.tsx';
import { tc } from './texts.ts';
import { ThreadView } from './thread-view.tsx';

/** Conversations with language models: the kept ones at the side, one of them open. */
export function Chat({ models }: { readonly models: readonly Model[] }) {
  const { chat } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  // A new conversation has its id before it is kept, so that it stays open when it is.
  const [fresh, setFresh] = useState<string>(() => crypto.randomUUID());
  const [isListed, setIsListed] = useState(false);
  const choices = current(models).filter(({ kinds }) => kinds.includes('CHAT'));
  if (choices.length === 0) return <Empty title={t('studio.noModels')} text={t('studio.noModelsText')} />;
  const id = chat ?? fresh;
  const begin = () => {
    setIsListed(false);
    setFresh(crypto.randomUUID());
    void navigate({ search: { kind: 'chat' } });
  };
  const history = { openId: chat, onNew: begin };
  return (
    <div className="col-span-full grid grid-cols-[260px_minmax(0,1fr)] h-[calc(100dvh_-_57px)] max-md:grid-cols-[minmax(0,1fr)] max-sm:h-[calc(100dvh_-_173px)]">
      <aside
        className="border-r border-r-line overflow-y-auto p-4 max-md:hidden"
        aria-label={tc('chat.history')}
      >
        <History {...history} />
      </aside>
      <ThreadView
        key={id}
        id={id}
        isKept={chat !== undefined && chat !== fresh}
        choices={choices}
        onKept={() => {
          if (chat === undefined) void navigate({ search: { kind: 'chat', chat: id }, replace: true });
        }}
        onNew={begin}
        onList={() => setIsListed(true)}
      />
      {isListed && (
        <Modal
          title={tc('chat.history')}
          onClose={() => setIsListed(false)}
          className="max-h-[80vh] overflow-y-auto"
        >
          <History {...history} onChosen={() => setIsListed(false)} />
        </Modal>
      )}
    </div>
  );
}
