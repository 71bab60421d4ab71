import type { TaskPartsFragment } from '../../api/operations.ts';
import { t } from '../../text/text.ts';
import { CopyButton } from '../copy-button.tsx';
import { ServerWords } from '../server-words.tsx';

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
  const id = idOf(result);
  if (id === null) return null;
  return (
    <div className="col gap-1">
      <p className="c12 mute">{t('studio.copyId')}</p>
      <p className="row">
        <code className="cut">{id}</code>
        <CopyButton text={id} />
      </p>
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
    <p key={index} className="said-text">
      {one}
    </p>
  ));
}

function idOf(result: NonNullable<TaskPartsFragment['result']>): string | null {
  if ('voice' in result) return result.voice.id;
  if ('characterId' in result) return result.characterId;
  if ('videoId' in result) return result.videoId;
  return 'digitalId' in result ? result.digitalId : null;
}
