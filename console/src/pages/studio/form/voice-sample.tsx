import { useEffect, useState } from 'react';

import { isEnded, useLiveTask } from '../../../api/live-tasks.ts';
import { useCast } from '../../../library/cast.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Help } from '../../../parts/looks/inputs.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { codeText, problemText } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { createKeeper } from '../../../work/keeper.ts';
import { priceText } from '../../../work/model-words.ts';
import { type Choice, startTask } from '../../../work/work.ts';

/** Tasks that have spoken a sample of a voice, by the voice. */
const samples = createKeeper<string>('kiln.voices');

interface VoiceSampleProps {
  readonly choice: Choice;
  readonly voiceId: string;
}

/** How a voice sounds: the recording that it was cloned from, else a short sample that is made once. */
export function VoiceSample({ choice, voiceId }: VoiceSampleProps) {
  const { members } = useCast();
  const cloned = members.find(({ kind, id }) => kind === 'VOICE_CLONE' && id === voiceId);
  const name = `${choice.model.generator} ${voiceId}`;
  // Empty for one that was lost.
  const [task, setTask] = useState(() => samples.read(name) || undefined);
  const [problem, setProblem] = useState<string | null>(null);
  if (cloned?.media?.contentType.startsWith('audio/') === true)
    return (
      <audio
        className="w-full"
        src={cloned.media.url}
        aria-label={t('cast.sample')}
        controls
        preload="none"
      />
    );
  if (task !== undefined) {
    const forget = (why: string | null) => {
      samples.write(name, '');
      setTask(undefined);
      setProblem(why);
    };
    return <Sample task={task} onLost={forget} />;
  }
  // Other work speaks by words of its own.
  if (choice.kind !== 'SPEECH') return null;
  const make = async () => {
    setProblem(null);
    try {
      const started = await startTask(choice, { text: t('cast.sentence'), voiceId });
      samples.write(name, started.id);
      setTask(started.id);
    } catch (refused) {
      setProblem(problemText(refused));
    }
  };
  const price = priceText(choice.model);
  return (
    <>
      <Button kind="ghost" size="small" className="self-start" onClick={() => void make()}>
        <Icon name="play" size={12} />
        {t('cast.hear')}
        {price !== null && !choice.model.sandbox && <span className="text-muted">{price}</span>}
      </Button>
      {problem !== null && (
        <Help bad role="alert">
          {problem}
        </Help>
      )}
    </>
  );
}

interface SampleProps {
  readonly task: string;
  /** Called where there is none and none will come: with why it has failed, or null where it was deleted. */
  readonly onLost: (why: string | null) => void;
}

function Sample({ task: id, onLost }: SampleProps) {
  const { task } = useLiveTask(id);
  const [file] = task?.outputs ?? [];
  const isLost = task === null || (task !== undefined && file === undefined && isEnded(task));
  const code = task?.error?.code;
  useEffect(() => {
    if (isLost) onLost(code === undefined ? null : codeText(code));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once, when it is
  }, [isLost]);
  if (file === undefined) return <Small as="p">{t('list.loading')}</Small>;
  return <audio className="w-full" src={file.url} aria-label={t('cast.sample')} controls preload="none" />;
}
