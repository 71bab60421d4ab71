import { Link } from '@tanstack/react-router';

import type { MediaPartsFragment } from '../../../api/documents/operations.ts';
import { TaskResult } from '../../../library/result/task-result.tsx';
import { UseAs } from '../../../library/use-as/use-as.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button, buttonLook } from '../../../parts/looks/button.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { MediaView } from '../../../parts/media-view.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { type Batch, removeBatch, readTitle } from '../../../work/batches.ts';
import { listFacts, isWorking, type Shot, type ResultActions } from './shots.ts';
import { EndedTile, readShape, tileLook, WorkingTile } from './tile.tsx';

interface StageProps extends ResultActions {
  readonly shot: Shot;
  /** All of its submission: while they are made they stand together. */
  readonly siblings: readonly Shot[];
  readonly onZoom: () => void;
  /** Goes back to the sheet with this id. */
  readonly onSheet: (id: string) => void;
}

/** One result as large as the window has room, with its words and what can be done with it next. */
export function Stage({ shot, siblings, onZoom, onSheet, ...actions }: StageProps) {
  const { batch } = shot;
  const title = readTitle(batch) ?? t(`kind.${batch.kind}`);
  const isMaking = siblings.length > 1 && siblings.some(isWorking);
  return (
    <section className="flex flex-col gap-3" data-batch aria-label={title}>
      {isMaking ? (
        <div className="grid grid-cols-4 gap-2 2xl:grid-cols-[repeat(4,minmax(0,360px))] max-lg:grid-cols-2">
          {siblings.map((one) => (
            <Hero key={one.id} shot={one} title={title} onZoom={onZoom} />
          ))}
        </div>
      ) : (
        <Hero shot={shot} title={title} onZoom={onZoom} isAlone />
      )}
      <header className="flex items-start gap-3">
        <div className="flex-1 min-w-0">
          <h2 className="line-clamp-2 overflow-hidden" title={title}>
            {title}
          </h2>
          <Small as="p">
            {listFacts(shot).join(' · ')} · <Ago at={batch.at} />
          </Small>
        </div>
      </header>
      <div className="flex flex-wrap gap-2">
        <BatchActions batch={batch} {...actions} />
        {shot.media !== null && (
          <>
            {canVary(batch) && (
              <Button size="small" onClick={() => shot.media !== null && actions.onVary(batch, shot.media)}>
                <Icon name="vary" size={14} />
                {t('studio.vary')}
              </Button>
            )}
            <UseAs media={shot.media} />
            <a className={buttonLook({ size: 'small' })} href={shot.media.url} download={shot.media.name}>
              <Icon name="download" size={14} />
              {t('media.download')}
            </a>
          </>
        )}
        {batch.cell !== undefined && (
          <Button size="small" onClick={() => onSheet(batch.cell?.sheet ?? '')}>
            <Icon name="grid" size={14} />
            {t('sheet.back')}
          </Button>
        )}
        <Link
          className={buttonLook({ kind: 'ghost', size: 'small' })}
          to="/tasks/$id"
          params={{ id: shot.taskId }}
        >
          {t('task.open')}
        </Link>
        <Button
          kind="ghost"
          size="small"
          icon
          className="ml-auto"
          onClick={() => removeBatch(batch)}
          label={t('studio.forget')}
        >
          <Icon name="close" size={14} />
        </Button>
      </div>
    </section>
  );
}

/** Recall of everything, and the same once more. */
function BatchActions({
  batch,
  onRemix,
  onAgain,
}: Pick<StageProps, 'onRemix' | 'onAgain'> & { readonly batch: Batch }) {
  return (
    <>
      <Button
        size="small"
        title={t('studio.remixText')}
        onClick={() => {
          onRemix(batch);
          document
            .querySelector('[data-studio-form]')
            ?.scrollIntoView({ block: 'start', behavior: 'smooth' });
        }}
      >
        <Icon name="remix" size={14} />
        {t('studio.remix')}
      </Button>
      <Button size="small" onClick={() => onAgain(batch)}>
        <Icon name="again" size={14} />
        {t('studio.again')}
      </Button>
    </>
  );
}

interface HeroProps {
  readonly shot: Shot;
  readonly title: string;
  readonly onZoom: () => void;
  readonly isAlone?: boolean;
}

/** The one that has the whole room, and a recording there. */
const HERO = 'relative mx-auto max-w-full min-w-0 justify-self-center rounded-panel';
const SOUND = 'w-[min(720px,100%)] border border-line bg-surface';
const LARGE = 'h-auto max-h-(--stage-h) max-w-full rounded-panel bg-media object-contain';
/** As wide as the file, and as there is room for its height; known before it is loaded, so that nothing moves. */
const MEASURED = `${LARGE} w-full`;
const UNMEASURED = `${LARGE} w-auto min-w-[min(100%,280px)]`;

function widthIn({ width, height }: MediaPartsFragment): string | undefined {
  if (width === null || height === null || height === 0) return undefined;
  return `max(min(100%, 280px), min(100%, ${width}px, var(--stage-h) * ${width / height}))`;
}

/** A result, or what is said in its place; an image opens over the window. */
function Hero({ shot, title, onZoom, isAlone = false }: HeroProps) {
  const { batch, task, media } = shot;
  if (task === null)
    return <div className={`${tileLook} bg-media p-4 text-faint`}>{t('studio.taskGone')}</div>;
  if (isWorking(shot)) return <WorkingTile task={task} shape={readShape(batch)} isHero={isAlone} />;
  if (task === undefined) return null;
  if (media === null) return <EndedTile task={task} />;
  const isImage = media.contentType.startsWith('image/');
  const isSound = media.contentType.startsWith('audio/');
  const width = isAlone && !isSound ? widthIn(media) : undefined;
  const large = width === undefined ? UNMEASURED : MEASURED;
  const look = isSound ? undefined : isAlone ? large : 'h-auto w-full';
  return (
    <>
      <article
        data-tile="done"
        className={isAlone ? `${HERO} ${isSound ? SOUND : ''}` : `${tileLook} bg-media`}
        style={{ width }}
      >
        {isImage ? (
          <button
            type="button"
            className="block w-full cursor-zoom-in"
            onClick={onZoom}
            aria-label={t('gallery.zoom')}
          >
            <MediaView media={media} alt={title} className={look} mayScale />
          </button>
        ) : (
          <MediaView key={media.id} media={media} alt={title} className={look} />
        )}
      </article>
      {task.result !== null && Object.keys(task.result).length > 1 && <TaskResult result={task.result} />}
    </>
  );
}

/** Images and videos come out differently each time; a recording does not. */
function canVary({ kind, template }: Batch): boolean {
  return template === undefined && ['IMAGE', 'CHARACTER_IMAGE', 'VIDEO', 'FRAME_VIDEO'].includes(kind);
}
