import { Link } from '@tanstack/react-router';

import type { TaskPartsFragment } from '../../api/documents/operations.ts';
import { CopyButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icons.tsx';
import { buttonLook } from '../../parts/looks/button.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { ServerWords } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { readDraft, setDraft } from '../../work/keeper.ts';
import type { WorkKind } from '../../work/kinds.ts';
import type { Tab } from '../../work/work.ts';

const PERSON = { true: 'studio.hasPerson', false: 'studio.noPerson', null: 'studio.unknownPerson' } as const;

/** What a task has made that is neither a file nor words: an id for the next step, or a finding. */
export function TaskResult({ result }: { readonly result: NonNullable<TaskPartsFragment['result']> }) {
  if ('hasPerson' in result) {
    return (
      <p>
        {t(PERSON[String(result.hasPerson) as keyof typeof PERSON])}{' '}
        <ServerWords text={result.reason ?? ''} />
      </p>
    );
  }
  const next = findNextStep(result);
  if (next === null) return null;
  const { tab, kind, member, id } = next;
  return (
    <div className="gap-2 flex flex-col min-w-0">
      <Link
        className={`${buttonLook()} self-start`}
        to="/"
        search={{ kind: tab }}
        onClick={() => setDraft(tab, { key: kind, values: { ...readDraft(tab)?.values, [member]: id } })}
      >
        <Icon name="input" size={14} />
        {t('studio.nextStep')}
      </Link>
      <details className="text-muted text-12 font-normal">
        <summary>{t('studio.copyId')}</summary>
        <Row as="p">
          <code className="truncate min-w-0">{id}</code>
          <CopyButton text={id} />
        </Row>
      </details>
    </div>
  );
}

/** All texts that a task has written. */
export function TaskTexts({
  task: { texts, text },
}: {
  readonly task: Pick<TaskPartsFragment, 'texts' | 'text'>;
}) {
  const all = texts.length > 0 ? texts : text === null ? [] : [text];
  return all.map((one, index) => (
    <p key={index} data-said-text className="whitespace-pre-wrap text-14 font-normal max-w-(--read-w)">
      {one}
    </p>
  ));
}

/** The form that goes on with a result, and where its id goes there. */
interface NextStep {
  readonly tab: Tab;
  readonly kind: WorkKind;
  readonly member: string;
  readonly id: string;
}

function findNextStep(result: NonNullable<TaskPartsFragment['result']>): NextStep | null {
  if ('voice' in result) return { tab: 'speech', kind: 'SPEECH', member: 'voiceId', id: result.voice.id };
  if ('characterId' in result)
    return { tab: 'image', kind: 'CHARACTER_IMAGE', member: 'characterId', id: result.characterId };
  if ('videoId' in result) return { tab: 'avatar', kind: 'AVATAR', member: 'videoId', id: result.videoId };
  if ('digitalId' in result)
    return { tab: 'avatar', kind: 'AVATAR_VIDEO', member: 'digitalId', id: result.digitalId };
  return null;
}
