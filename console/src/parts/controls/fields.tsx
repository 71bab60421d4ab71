import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';

import { t } from '../../text/text.ts';
import { Icon } from '../icons.tsx';
import { Field, Input, Label, Select, findLook } from '../looks/inputs.tsx';
import { isBusy } from './typing.ts';

interface InputFieldProps extends ComponentProps<typeof Input> {
  readonly label: string;
  /** What may be typed, as suggestions. */
  readonly names?: readonly string[];
  /** What is said below it. */
  readonly children?: ReactNode;
}

/** An input of one line below its label. */
export function InputField({ label, names = [], children, ...rest }: InputFieldProps) {
  const id = useId();
  return (
    <Field>
      <Label htmlFor={id}>{label}</Label>
      <Input {...rest} id={id} list={names.length === 0 ? undefined : `${id}-names`} />
      {names.length > 0 && (
        <datalist id={`${id}-names`}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
      {children}
    </Field>
  );
}

interface SelectFieldProps extends ComponentProps<typeof Select> {
  readonly label: string;
}

/** A choice below its label; what is said of it stands below. */
export function SelectField({ label, children, ...rest }: SelectFieldProps) {
  const id = useId();
  return (
    <Field>
      <Label htmlFor={id}>{label}</Label>
      <Select {...rest} id={id} />
      {children}
    </Field>
  );
}

interface BoundFieldProps {
  readonly label: string;
  /** What it is counted in: whole numbers, or any. */
  readonly step: number | 'any';
  /** As it is typed; empty: no bound. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The field of one bound of a budget. */
export function BoundField({ onChange, ...rest }: BoundFieldProps) {
  return (
    <InputField
      {...rest}
      type="number"
      min={0}
      placeholder={t('budget.unbounded')}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly find: string | undefined;
  /** Called with what is looked for; undefined for nothing. */
  readonly onSearch: (find: string | undefined) => void;
}

/** The search of a page; `/` goes there. */
export function SearchField({ label, find, onSearch }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isBusy(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const words = input.current?.value.trim() ?? '';
    onSearch(words === '' ? undefined : words);
  };
  return (
    <form role="search" className={`${findLook} [flex:0_1_280px]`} onSubmit={submit}>
      <Icon name="search" />
      <Input
        className="pl-8"
        key={find}
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        defaultValue={find}
      />
    </form>
  );
}
