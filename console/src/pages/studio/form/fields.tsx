import { useQuery } from '@apollo/client/react';
import { useId } from 'react';

import { CheckPromptDocument } from '../../../api/documents/studio.ts';
import type { StoredFile } from '../../../api/kiln.ts';
import { FileField } from '../../../library/file-field.tsx';
import { useDebounced } from '../../../parts/controls/typing.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Chip, Help } from '../../../parts/looks/inputs.tsx';
import { Note } from '../../../parts/looks/panels.tsx';
import { later } from '../../../parts/page/later.tsx';
import { t, textOr } from '../../../text/text.ts';
import { ACCEPTED } from '../../../work/files.ts';
import { COMMON_RATIOS, SPEED_MODES } from '../../../work/kinds.ts';
import { toText } from '../../../work/work.ts';
import { ComfyFields, type FieldProps } from './comfy-fields.tsx';
import { ChoiceField, NumberField, ShapeField, StepperField, TextAreaField, TextField } from './controls.tsx';
import { MaskField } from './mask/mask-field.tsx';
import { VoiceField } from './voice-field.tsx';

const CastField = later(async () => (await import('./cast-field.tsx')).CastField);

/** Who is chosen by each of these members. */
const CAST_MEMBERS = {
  characterId: 'CHARACTER',
  digitalId: 'AVATAR',
  videoId: 'AVATAR_SOURCE',
} as const;
const MOST_AT_ONCE = 4;
/** Reference images of a model that names no number. */
const MOST_IMAGES = 10;

/** One member of the input, as the control that fits it and with the model's own values. */
export function Field(props: FieldProps) {
  const { choice, member, values, onChange } = props;
  const { model } = choice;
  const value = values[member];
  const id = useId();
  const label = textOr(`field.${member}`, member);
  const common = { id, label, problem: props.problem, onChange: (next: unknown) => onChange(member, next) };
  if (member === 'mask') {
    const [image = null] = (values['images'] ?? []) as readonly StoredFile[];
    const mask = (value ?? null) as StoredFile | null;
    return <MaskField label={label} image={image} mask={mask} onChange={common.onChange} />;
  }
  if (member in ACCEPTED) return <FileMember {...props} label={label} />;
  switch (member) {
    case 'prompt':
      return (
        <>
          <TextAreaField {...common} value={toText(value)} most={model.maxPrompt} />
          {choice.kind === 'ANALYSIS' && <Questions onChoose={common.onChange} />}
          <PromptCheck generator={model.generator} prompt={toText(value)} />
        </>
      );
    case 'text':
    case 'system':
      return (
        <TextAreaField
          {...common}
          value={toText(value)}
          most={member === 'system' ? null : model.maxPrompt}
        />
      );
    case 'aspectRatio':
      return (
        <ShapeField
          {...common}
          value={value as string | undefined}
          shapes={model.aspectRatios ?? COMMON_RATIOS}
        />
      );
    case 'resolution':
      return <ChoiceField {...common} value={value} values={model.sizes ?? []} />;
    case 'duration':
      return <ChoiceField {...common} value={value} values={model.durations ?? []} isSeconds />;
    case 'format':
      return <ChoiceField {...common} value={value} values={model.formats ?? []} />;
    case 'speedMode':
      return <ChoiceField {...common} value={value} values={SPEED_MODES} />;
    case 'voiceId':
      return <VoiceField {...common} value={value} choice={choice} />;
    case 'characterId':
    case 'digitalId':
    case 'videoId':
      return <CastField {...common} value={value} kind={CAST_MEMBERS[member]} />;
    case 'workflowName':
      return <ComfyFields {...props} />;
    case 'seed':
    case 'speed':
    case 'pitch':
    case 'volume':
      return <NumberField {...common} value={value} range={readRange(model.ranges, member)} />;
    default:
      return <TextField {...common} value={toText(value)} />;
  }
}

/** How many results are wanted: by the model's own count, else by starting several tasks. */
export function CountField({ choice, values, onChange }: Pick<FieldProps, 'choice' | 'values' | 'onChange'>) {
  const { model } = choice;
  const counts = model.inputs.includes('count');
  const most = counts ? (model.maxCount ?? MOST_AT_ONCE) : MOST_AT_ONCE;
  return (
    <>
      <StepperField
        label={t('field.count')}
        value={Number(values['count'] ?? 1)}
        most={most}
        onChange={(next) => onChange('count', next)}
      />
      {!counts && Number(values['count'] ?? 1) > 1 && <Help>{t('studio.oneAtATime')}</Help>}
    </>
  );
}

function FileMember({ choice, member, values, onChange, label }: FieldProps & { readonly label: string }) {
  const most = member === 'images' ? (choice.model.maxImages ?? MOST_IMAGES) : 1;
  const value = values[member];
  const files = (
    Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  ) as StoredFile[];
  return (
    <FileField
      label={label}
      accept={ACCEPTED[member] ?? ''}
      most={most}
      files={files}
      onChange={(next) => onChange(member, member === 'images' ? next : (next[0] ?? null))}
    />
  );
}

function readRange(ranges: unknown, member: string): readonly [number, number] | null {
  const range = (ranges as Record<string, [number, number] | undefined> | null)?.[member];
  return range ?? null;
}

const QUESTIONS = ['describe', 'list', 'words', 'prompt'] as const;

/** What is often asked about an image, a recording or a video: a click fills the prompt. */
function Questions({ onChoose }: { readonly onChoose: (question: string) => void }) {
  return (
    <div className="flex items-center min-w-0 flex-wrap gap-1" role="group" aria-label={t('question.often')}>
      {QUESTIONS.map((one) => (
        <Chip key={one} title={t(`question.${one}`)} onClick={() => onChoose(t(`question.${one}`))}>
          {t(`question.short.${one}`)}
        </Chip>
      ))}
    </div>
  );
}

const REST_MS = 600;

/** What a provider may say against a prompt, before anything is spent; nothing while it looks fine. */
function PromptCheck({ generator, prompt }: { readonly generator: string; readonly prompt: string }) {
  const rested = useDebounced(prompt.trim(), REST_MS);
  const { data } = useQuery(CheckPromptDocument, {
    variables: { generator, prompt: rested },
    skip: rested === '' || prompt.trim() === '',
    // A question per pause in typing: none is worth keeping.
    fetchPolicy: 'no-cache',
  });
  const check = data?.checkPrompt;
  return (
    <div role="status" className="empty:absolute">
      {check?.allowed === false && prompt.trim() !== '' && (
        <Note tone="warn">
          <Icon name="warning" />
          <div>
            <p>{t('studio.checked')}</p>
            <ul>
              {check.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </div>
        </Note>
      )}
    </div>
  );
}
