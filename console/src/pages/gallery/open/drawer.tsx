import { useQuery } from '@apollo/client/react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useCredentialKind } from '../../../api/caller.ts';
import { TaskInputsDocument } from '../../../api/documents/gallery.ts';
import type { TaskInputsQuery } from '../../../api/documents/operations.ts';
import { namePiece, type Piece } from '../../../library/piece.tsx';
import { UseAs } from '../../../library/use-as/use-as.tsx';
import { CopyButton } from '../../../parts/buttons.tsx';
import { ImageTool } from '../../../parts/controls/selection.tsx';
import { Fact, FactName, FactList, FactValue } from '../../../parts/facts.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button, buttonLook } from '../../../parts/looks/button.tsx';
import { MediaView } from '../../../parts/media-view.tsx';
import { moneyText } from '../../../parts/money.ts';
import { providerName } from '../../../parts/provider-name.ts';
import { Ago, bytesText, secondsText } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { setDraft } from '../../../work/keeper.ts';
import { recallTask } from '../../../work/recall.ts';
import type { Tab, Values } from '../../../work/work.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { DrawerSection, Lineage } from './lineage.tsx';
import { ShareDialog } from './share-dialog.tsx';

type SourceTask = NonNullable<TaskInputsQuery['task']>;

interface DrawerProps {
  readonly piece: Piece;
  readonly onClose: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
  /** Shows it over the whole window. */
  readonly onEnlarge: () => void;
}

/** A piece beside the grid: large, what it is and was made from, and what can be made of it. */
export function Drawer({ piece, onClose, onDeleted, onEnlarge }: DrawerProps) {
  const { media, task } = piece;
  const { data } = useQuery(TaskInputsDocument, { variables: { id: task?.id ?? '' }, skip: task === null });
  const source = data?.task ?? null;
  const name = namePiece(piece);
  const isSound = media.contentType.startsWith('audio/');
  return (
    <aside
      data-drawer
      className="border-l border-l-line bg-surface sticky top-14.25 h-[calc(100vh_-_57px)] overflow-y-auto flex flex-col max-sm:fixed max-sm:inset-0 max-sm:h-auto max-sm:z-20"
      aria-label={t('gallery.details')}
    >
      <div className="relative bg-media">
        {media.contentType.startsWith('image/') ? (
          <button
            type="button"
            data-view-image
            className="block w-full cursor-zoom-in"
            onClick={onEnlarge}
            aria-label={t('gallery.zoom')}
          >
            <MediaView media={media} alt={name} className={isSound ? undefined : 'h-auto w-full'} />
          </button>
        ) : (
          <MediaView media={media} alt={name} className={isSound ? undefined : 'h-auto w-full'} />
        )}
        <ImageTool
          icon="close"
          label={t('gallery.close')}
          className="absolute top-2 right-2"
          onClick={onClose}
        />
      </div>
      <Actions piece={piece} source={source} onDeleted={onDeleted} />
      <DrawerSection>
        <h2>{task === null ? t('gallery.upload') : t('field.prompt')}</h2>
        <p className="text-14 font-normal">{name}</p>
      </DrawerSection>
      <Lineage media={media} source={source} />
      <Facts piece={piece} source={source} />
    </aside>
  );
}

function Facts({
  piece: { media, task },
  source,
}: {
  readonly piece: Piece;
  readonly source: SourceTask | null;
}) {
  const settings = Object.entries((source?.input?.options ?? {}) as Readonly<Record<string, unknown>>).filter(
    ([, value]) => typeof value !== 'object',
  );
  return (
    <DrawerSection>
      <h2>{t('task.facts')}</h2>
      <FactList>
        {task !== null && <Fact name={t('task.generator')}>{task.generator}</Fact>}
        {source?.model && <Fact name={t('gallery.model')}>{source.model}</Fact>}
        {source?.provider && <Fact name={t('task.provider')}>{providerName(source.provider)}</Fact>}
        {settings.map(([name, value]) => (
          <Fact key={name} name={textOr(`field.${name}`, name)}>
            {String(value)}
          </Fact>
        ))}
        {media.width !== null && (
          <Fact name={t('field.resolution')}>{`${media.width} × ${media.height}`}</Fact>
        )}
        <Fact name={t('gallery.file')}>{`${media.contentType} · ${bytesText(media.bytes)}`}</Fact>
        {media.duration !== null && <Fact name={t('field.duration')}>{secondsText(media.duration)}</Fact>}
        {source?.cost && !source.sandbox && <Fact name={t('task.cost')}>{moneyText(source.cost)}</Fact>}
        <Fact name={t('task.created')}>{<Ago at={media.createdAt} />}</Fact>
        <FactName>SHA-256</FactName>
        <FactValue className="gap-1 flex items-center min-w-0">
          <span className="truncate font-mono [font-size:12px] min-w-0" title={media.sha256}>
            {media.sha256}
          </span>
          <CopyButton text={media.sha256} />
        </FactValue>
        {task !== null && (
          <>
            <FactName>{t('task.task')}</FactName>
            <FactValue>
              <Link className="link" to="/tasks/$id" params={{ id: task.id }}>
                {t('task.open')}
              </Link>
            </FactValue>
          </>
        )}
      </FactList>
    </DrawerSection>
  );
}

interface ActionsProps {
  readonly piece: Piece;
  readonly source: TaskInputsQuery['task'];
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** What can be made of a piece, and how it leaves. */
function Actions({ piece, source, onDeleted }: ActionsProps) {
  const { media } = piece;
  const navigate = useNavigate();
  const kind = useCredentialKind();
  const [over, setOver] = useState<'share' | 'delete' | null>(null);
  const recalled = source === null ? null : recallTask(source);
  const go = (tab: Tab, key: string, values: Values) => {
    setDraft(tab, { key, values });
    void navigate({ to: '/', search: { kind: tab } });
  };
  return (
    <DrawerSection>
      <div className="grid grid-cols-[repeat(3,1fr)] gap-2 [&_:is(a,button)]:px-1.5 max-sm:[&_:is(a,button)]:h-11">
        <Button
          kind="primary"
          disabled={recalled === null}
          onClick={() => recalled !== null && go(recalled.tab, recalled.draft.key, recalled.draft.values)}
        >
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </Button>
        <UseAs key={media.id} media={media} />
        <a className={buttonLook()} href={media.url} download={media.name}>
          <Icon name="download" size={14} />
          {t('media.download')}
        </a>
        <Button onClick={() => setOver('share')}>
          <Icon name="share" size={14} />
          {t('gallery.shareIt')}
        </Button>
        {kind !== null && (
          <Button kind="bad" onClick={() => setOver('delete')}>
            <Icon name="trash" size={14} />
            {t('gallery.delete')}
          </Button>
        )}
      </div>
      {over === 'share' && <ShareDialog id={media.id} onClose={() => setOver(null)} />}
      {over === 'delete' && (
        <DeleteDialog pieces={[piece]} onClose={() => setOver(null)} onDeleted={onDeleted} />
      )}
    </DrawerSection>
  );
}
