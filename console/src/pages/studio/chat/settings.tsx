import { Modal } from '../../../parts/controls/modal.tsx';
import { fieldLook, helpLook, Input, labelLook, TextArea } from '../../../parts/looks/inputs.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { type OptionFields, makeOptionFields } from '../../../work/options/fields.ts';
import type { Model } from '../../../work/work.ts';
import { OptionsFields } from '../form/options/options-fields.tsx';
import type { ChatDraft } from './kept-chats.ts';
import { tc } from './texts.ts';

interface SettingsProps {
  readonly model: Model;
  readonly draft: ChatDraft;
  readonly onChange: (change: Partial<ChatDraft>) => void;
  readonly onClose: () => void;
}

/** What the model is told in front of a conversation, and its options, in a drawer at the side. */
export function ChatSettings({ model, draft, onChange, onClose }: SettingsProps) {
  const takes = (input: string) => model.inputs.includes(input);
  return (
    <Modal
      title={tc('chat.settings')}
      onClose={onClose}
      width="w-[min(400px,100vw)]"
      place="mt-0 mr-0 mb-0 ml-auto"
      className="h-[100dvh] max-h-none rounded-none overflow-y-auto"
    >
      {takes('system') && (
        <label className={fieldLook}>
          <span className={labelLook}>{tc('chat.system')}</span>
          <TextArea
            rows={6}
            value={draft.system}
            placeholder={tc('chat.systemHint')}
            onChange={({ target }) => onChange({ system: target.value })}
          />
        </label>
      )}
      {takes('temperature') && (
        <label className={fieldLook}>
          <span className={labelLook}>
            {tc('chat.temperature')}
            <Figures tone="faint" className="font-normal ml-auto">
              {draft.temperature === '' ? '' : draft.temperature}
            </Figures>
          </span>
          <Input
            type="number"
            min={0}
            max={2}
            step={0.1}
            value={draft.temperature}
            placeholder={tc('chat.standard')}
            onChange={({ target }) => onChange({ temperature: target.value })}
          />
          <span className={helpLook()}>{tc('chat.temperatureHelp')}</span>
        </label>
      )}
      {takes('maxTokens') && (
        <label className={fieldLook}>
          <span className={labelLook}>{tc('chat.maxTokens')}</span>
          <Input
            type="number"
            min={1}
            step={1}
            value={draft.maxTokens}
            placeholder={tc('chat.standard')}
            onChange={({ target }) => onChange({ maxTokens: target.value })}
          />
          <span className={helpLook()}>{tc('chat.maxTokensHelp')}</span>
        </label>
      )}
      <OptionsFields
        fields={makeChatOptions(model)}
        of={`${model.generator} ${model.id}`}
        options={draft.options}
        problems={{}}
        onChange={(options) => onChange({ options })}
      />
    </Modal>
  );
}

/** All of them are folded away: the typed ones are what most people set. */
export function makeChatOptions({ optionsSchema }: Model): OptionFields {
  const { first, more } = makeOptionFields({
    kind: 'CHAT',
    schema: optionsSchema,
    members: ['system', 'temperature', 'maxTokens'],
  });
  return { first: [], more: [...first, ...more] };
}
