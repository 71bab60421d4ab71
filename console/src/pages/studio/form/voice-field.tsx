import { useQuery } from '@apollo/client/react';

import { VoicesDocument } from '../../../api/documents/studio.ts';
import { refusalCode } from '../../../api/refusal.ts';
import { Field, Help, Label, Select } from '../../../parts/looks/inputs.tsx';
import { later } from '../../../parts/page/later.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { language, t } from '../../../text/text.ts';
import { type Choice, toText } from '../../../work/work.ts';
import { TextField } from './controls.tsx';

const VoiceSample = later(async () => (await import('./voice-sample.tsx')).VoiceSample);

/** Avatars take sound alone: what they say is spoken by this generator first. */
const SPEAKER_OF_AVATARS = 'agg/speech_router';

interface VoiceFieldProps {
  readonly id: string;
  readonly label: string;
  readonly problem: string | undefined;
  readonly value: unknown;
  readonly choice: Choice;
  readonly onChange: (value: unknown) => void;
}

/** A voice that the model can speak with, by language; by its id where nobody lists them. */
export function VoiceField(props: VoiceFieldProps) {
  const { id, label, problem, value, choice, onChange } = props;
  const generator = choice.kind === 'AVATAR_VIDEO' ? SPEAKER_OF_AVATARS : choice.model.generator;
  const { data, error } = useQuery(VoicesDocument, { variables: { generator } });
  if (refusalCode(error) === 'BAD_USER_INPUT') return <TextField {...props} value={toText(value)} />;
  if (error !== undefined) return <Problem error={error} />;
  const voices = data?.voices ?? [];
  const languages = Map.groupBy(voices, ({ language: of, cloned }) =>
    cloned ? t('voice.cloned') : languageText(of),
  );
  // What was chosen for another model is not among those of this one.
  const chosen = voices.some((voice) => voice.id === value) ? toText(value) : '';
  return (
    <Field>
      <Label htmlFor={id}>{label}</Label>
      <Select
        id={id}
        value={chosen}
        disabled={data === undefined}
        onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
      >
        <option value="">{t(choice.kind === 'SPEECH' ? 'voice.choose' : 'field.default')}</option>
        {[...languages].map(([name, ofLanguage]) => (
          <optgroup key={name} label={name}>
            {ofLanguage.map((voice) => (
              <option key={voice.id} value={voice.id}>
                {voice.name}
              </option>
            ))}
          </optgroup>
        ))}
      </Select>
      {chosen !== '' && <VoiceSample key={chosen} choice={choice} voiceId={chosen} />}
      {problem !== undefined && (
        <Help bad role="alert">
          {problem}
        </Help>
      )}
    </Field>
  );
}

/** `en` and `English` are written in the reader's language as far as they are codes. */
function languageText(name: string | null): string {
  if (name === null) return t('voice.any');
  // What only looks like a code is an error to the browser.
  if (!/^[a-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?$/.test(name)) return name;
  return new Intl.DisplayNames(language, { type: 'language' }).of(name) ?? name;
}
