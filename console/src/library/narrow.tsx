import { useQuery } from '@apollo/client/react';
import { Popover } from '@base-ui/react/popover';
import { type ReactNode, useId, useState } from 'react';

import { PeopleDocument } from '../api/documents/keys.ts';
import { useModels } from '../api/shared-queries.ts';
import { useDebounced } from '../parts/controls/typing.ts';
import { Icon } from '../parts/icons.tsx';
import { Button, buttonLook } from '../parts/looks/button.tsx';
import { pickerLook, placeLook } from '../parts/looks/choices.tsx';
import { Chip, Field, fieldLook, Input, Label, Select } from '../parts/looks/inputs.tsx';
import { Figures } from '../parts/looks/lines.tsx';
import { t } from '../text/text.ts';
import type { Narrowing } from './narrowing.ts';

interface NarrowProps {
  readonly value: Narrowing;
  readonly onChange: (value: Narrowing) => void;
}

/** The menu of what a list is narrowed by: where it was made, by which model, whose, when. */
export function Narrow({ value, onChange, seesAll }: NarrowProps & { readonly seesAll: boolean }) {
  const [isAsked, setIsAsked] = useState(false);
  const count = Object.keys(value).length;
  const name = (
    <>
      <Icon name="filter" size={14} />
      {t('narrow.title')}
      {count > 0 && <Figures tone="muted">{count}</Figures>}
    </>
  );
  // The menu is made when it is first opened, as it takes as long as the page around it.
  if (!isAsked)
    return (
      <Button aria-haspopup="dialog" aria-expanded={false} onClick={() => setIsAsked(true)}>
        {name}
      </Button>
    );
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger className={buttonLook()}>{name}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className={placeLook}>
          <Popover.Popup
            className={`${pickerLook} sm:w-[min(320px,calc(100vw_-_32px))]`}
            aria-label={t('narrow.title')}
          >
            <Fields value={value} onChange={onChange} seesAll={seesAll} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Fields({ value, onChange, seesAll }: NarrowProps & { readonly seesAll: boolean }) {
  const { models = [] } = useModels().data ?? {};
  const set = (name: keyof Narrowing, next: string) => onChange(changed(value, name, next));
  const { generator } = value;
  const ofGenerator = generator === undefined ? models : models.filter((one) => one.generator === generator);
  return (
    <div className="gap-3 p-4 flex flex-col min-w-0">
      <Choice
        label={t('task.generator')}
        value={generator}
        values={models.map((one) => one.generator)}
        onChange={(next) => set('generator', next)}
      />
      <Choice
        label={t('gallery.model')}
        value={value.model}
        values={ofGenerator.map(({ model }) => model)}
        onChange={(next) => set('model', next)}
      />
      <Labelled label={t('narrow.from')}>
        {(id) => <Day id={id} value={value.from} most={value.to} onChange={(next) => set('from', next)} />}
      </Labelled>
      <Labelled label={t('narrow.to')}>
        {(id) => <Day id={id} value={value.to} least={value.from} onChange={(next) => set('to', next)} />}
      </Labelled>
      {seesAll && <OwnerField value={value.owner} onChange={(next) => set('owner', next)} />}
    </div>
  );
}

/** What is narrowed by now; each can be taken away. */
export function NarrowChips({ value, onChange }: NarrowProps) {
  const names = Object.keys(value) as (keyof Narrowing)[];
  return names.map((name) => (
    <Chip key={name} on onClick={() => onChange(changed(value, name, ''))}>
      <span className="text-muted">{t(`narrow.${name}`)}</span>{' '}
      <span className="truncate min-w-0">{value[name]}</span>{' '}
      <span className="sr-only">{t('narrow.remove')}</span>
      <Icon name="close" size={12} />
    </Chip>
  ));
}

function changed(value: Narrowing, name: keyof Narrowing, next: string): Narrowing {
  const { [name]: _, ...rest } = value;
  return next === '' ? rest : { ...rest, [name]: next };
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly values: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  // What the address names stays choosable when no model has it any more.
  const all = [...new Set([...(value === undefined ? [] : [value]), ...values])].toSorted();
  return (
    <Labelled label={label}>
      {(id) => (
        <Select
          id={id}
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value)}
          empty={t('narrow.any')}
          options={all.map((one) => [one, one])}
        />
      )}
    </Labelled>
  );
}

interface DayProps {
  readonly id: string;
  readonly value: string | undefined;
  readonly least?: string | undefined;
  readonly most?: string | undefined;
  readonly onChange: (value: string) => void;
}

function Day({ id, value = '', least, most, onChange }: DayProps) {
  return (
    <Input
      id={id}
      type="date"
      min={least}
      max={most}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function Labelled({
  label,
  children,
}: {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <Field>
      <Label htmlFor={id}>{label}</Label>
      {children(id)}
    </Field>
  );
}

const REST_MS = 300;
const MOST = 20;

interface OwnerFieldProps {
  readonly value: string | undefined;
  readonly onChange: (owner: string) => void;
}

/** Whose: a person found by name or address, or the id of a key. */
function OwnerField({ value = '', onChange }: OwnerFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const search = useDebounced(typed.trim(), REST_MS);
  const { data, previousData } = useQuery(PeopleDocument, {
    variables: { first: MOST, search: search === '' || search.startsWith('usr_') ? null : search },
  });
  const people = ((data ?? previousData)?.users.edges ?? []).map(({ node }) => node);
  return (
    <form
      className={fieldLook}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <Label htmlFor={id}>{t('task.owner')}</Label>
      <Input
        id={id}
        list={`${id}-people`}
        placeholder={t('narrow.ownerHint')}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          // Chosen from the list, or emptied: there is nothing more to type.
          if (target.value === '' || people.some((one) => one.id === target.value)) onChange(target.value);
        }}
      />
      <datalist id={`${id}-people`}>
        {people.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name ?? one.email ?? one.subject}
          </option>
        ))}
      </datalist>
    </form>
  );
}
