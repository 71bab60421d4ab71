import { useQuery } from '@apollo/client/react';

import { VoicesDocument } from '../../../api/operations.ts';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { textOf } from '../../../work/work.ts';

/** Lip-sync and avatars are spoken by this generator before they move. */
const SPEAKER = 'agg/speech_router';

interface VoiceFieldProps {
  readonly id: string;
  readonly label: string;
  readonly problem: string | undefined;
  readonly value: unknown;
  readonly generator: string;
  readonly onChange: (value: unknown) => void;
}

/** A voice of the generator, by language. */
export function VoiceField({ id, label, problem, value, generator, onChange }: VoiceFieldProps) {
  const speaker = generator.endsWith('speech_router') ? generator : SPEAKER;
  const { data, error } = useQuery(VoicesDocument, { variables: { generator: speaker } });
  if (error !== undefined) return <Problem error={error} />;
  const languages = Map.groupBy(data?.voices ?? [], ({ language, cloned }) =>
    cloned ? t('voice.cloned') : (language ?? ''),
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="in"
        value={textOf(value)}
        onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
      >
        <option value="">{t('voice.choose')}</option>
        {[...languages].map(([language, voices]) => (
          <optgroup key={language} label={language}>
            {voices.map((voice) => (
              <option key={voice.id} value={voice.id}>
                {voice.name}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      {problem !== undefined && (
        <p className="help bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
