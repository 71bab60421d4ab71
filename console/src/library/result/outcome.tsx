import { Link } from '@tanstack/react-router';

import type { MediaPartsFragment, TaskPartsFragment, TaskState } from '../../api/documents/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Note, SandboxTag } from '../../parts/looks/panels.tsx';
import { MediaView } from '../../parts/media-view.tsx';
import { codeText, ServerWords } from '../../parts/problem.tsx';
import { ProgressBar } from '../../parts/task/progress.tsx';
import { StateBadge } from '../../parts/task/state.tsx';
import { Ago, bytesText, secondsText } from '../../parts/time.tsx';
import { type Texts, t, textOr } from '../../text/text.ts';
import { TaskResult, TaskTexts } from './task-result.tsx';

interface OutcomeProps {
  readonly work: Pick<TaskPartsFragment, 'progress' | 'createdAt'> & {
    readonly state: TaskState;
    readonly error: Parameters<typeof Failure>[0]['error'] | null;
  };
  /** What it does now, in the reader's language. */
  readonly stage: string;
  /** What it has made so far; null while nothing has begun. */
  readonly task: TaskPartsFragment | null;
  /** What its images are called. */
  readonly name: string;
}

/** How far work is, why it has failed, or what it has made. */
export function Outcome({ work, stage, task, name }: OutcomeProps) {
  const isOpen = work.state === 'QUEUED' || work.state === 'RUNNING';
  return (
    <Card>
      <CardHead>
        <span role="status">
          <StateBadge state={work.state} boxed />
        </span>
        {task?.sandbox === true && <SandboxTag />}
        <Small>
          <Ago at={work.createdAt} />
        </Small>
      </CardHead>
      <div className="p-4 gap-3 flex flex-col min-w-0">
        {isOpen && (
          <div className="flex flex-col gap-2 min-w-0">
            <Row as="p">
              <span className="text-muted">{stage}</span>
              <Figures className="font-semibold ml-auto">{work.progress} %</Figures>
            </Row>
            <ProgressBar progress={work.progress} stage={stage} />
          </div>
        )}
        {work.error !== null && <Failure error={work.error} />}
        {task !== null && <Made task={task} name={name} />}
      </div>
    </Card>
  );
}

function Made({ task, name }: { readonly task: TaskPartsFragment; readonly name: string }) {
  return (
    <>
      {task.noteInfos.map((note) => (
        <Note key={note.text}>{noteText(note)}</Note>
      ))}
      <TaskTexts task={task} />
      {task.result !== null && <TaskResult result={task.result} />}
      {task.outputs.length > 0 && (
        <div
          data-outputs
          className={
            task.outputs.length === 1
              ? 'grid max-w-140'
              : 'grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-4'
          }
        >
          {task.outputs.map((media) => (
            <figure key={media.id} className="flex flex-col gap-2 min-w-0">
              <MediaView
                media={media}
                alt={name}
                mayScale
                className={
                  media.contentType.startsWith('audio/') ? undefined : 'h-auto w-full rounded-panel bg-media'
                }
              />
              <figcaption className="text-muted text-12 font-normal">
                <Row as="span">
                  <Link className="link" to="/gallery" search={{ open: media.id }}>
                    {t('shop.inGallery')}
                  </Link>
                  <a className="link ml-auto" href={media.url} download>
                    {t('media.download')}
                  </a>
                </Row>
                {sizeText(media)}
              </figcaption>
            </figure>
          ))}
        </div>
      )}
    </>
  );
}

function sizeText({ width, height, duration, bytes, contentType }: MediaPartsFragment): string {
  const facts = [
    width === null ? null : `${width} × ${height}`,
    duration === null ? null : secondsText(duration),
    bytesText(bytes),
    contentType,
  ];
  return facts.filter((fact) => fact !== null).join(' · ');
}

/** A note on a result in the reader's language; the server's own words where its code has no text here. */
function noteText({
  code,
  text,
  aspectRatio,
  size,
  usedAspectRatio,
}: TaskPartsFragment['noteInfos'][number]): string {
  if (code === 'OTHER') return text;
  const key = `note.${code}` as const satisfies keyof Texts;
  return textOr(key, text, { wanted: aspectRatio ?? '', size: size ?? '', made: usedAspectRatio ?? '' });
}

/** Why work has failed, in the place of what it would have made: the remedy, then what exactly was said. */
function Failure({
  error: { code, message },
}: {
  readonly error: { readonly code: string; readonly message: string };
}) {
  return (
    <Note tone="bad" role="alert">
      <Icon name="warning" />
      <div className="gap-1 flex flex-col min-w-0">
        <p className="font-semibold">{codeText(code)}</p>
        <p>
          <ServerWords text={message} />
        </p>
        <p className="font-mono text-12 font-normal">{code}</p>
      </div>
    </Note>
  );
}
