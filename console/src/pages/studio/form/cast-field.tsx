import { useState } from 'react';

import { MemberImage, nameMember, type CastKind, type Member, useCast } from '../../../library/cast.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Field, Help, Input, labelLook } from '../../../parts/looks/inputs.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { readDraft, setDraft } from '../../../work/keeper.ts';
import { findTab, toText } from '../../../work/work.ts';

interface CastFieldProps {
  readonly id: string;
  readonly label: string;
  readonly kind: CastKind;
  readonly value: unknown;
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}

/** Chooses somebody by their image and name; one of another tool by their id. */
export function CastField({ id, label, kind, value, problem, onChange }: CastFieldProps) {
  const { members, isLoading, error } = useCast();
  const own = members.filter((one) => one.kind === kind);
  const chosen = toText(value);
  const [isTyping, setIsTyping] = useState(false);
  const isForeign = chosen !== '' && !isLoading && own.every((one) => one.id !== chosen);
  return (
    <Field>
      <span className={labelLook}>{label}</span>
      {error !== undefined && <Problem error={error} />}
      <div
        className="grid grid-cols-[repeat(auto-fill,minmax(88px,1fr))] gap-2"
        role="radiogroup"
        aria-label={label}
        aria-busy={isLoading}
      >
        {own.map((member) => (
          <CastCard
            key={member.id}
            member={member}
            isChosen={member.id === chosen}
            onChoose={() => onChange(member.id === chosen ? null : member.id)}
          />
        ))}
        <button type="button" className={CARD} onClick={() => makeNew(kind)}>
          <span className={PLACE}>
            <Icon name="plus" />
          </span>
          <span className="truncate min-w-0">{t(`cast.new.${kind}`)}</span>
        </button>
      </div>
      {isTyping || isForeign ? (
        <Input
          id={id}
          className="font-mono"
          aria-label={t('cast.id')}
          placeholder={t('cast.id')}
          value={chosen}
          onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
        />
      ) : (
        <Button kind="ghost" size="small" className="self-start" onClick={() => setIsTyping(true)}>
          {t('cast.other')}
        </Button>
      )}
      {problem !== undefined && (
        <Help bad role="alert">
          {problem}
        </Help>
      )}
    </Field>
  );
}

const CARD =
  'flex flex-col gap-0.5 min-w-0 p-1 border border-line rounded-control bg-surface text-12 font-normal text-left hover:bg-hover aria-checked:bg-select aria-checked:border-select-line aria-checked:outline-1 aria-checked:outline-select-line';
/** Where the image of one is. */
const PLACE = 'grid aspect-square place-items-center overflow-hidden rounded-small bg-sunken text-muted';

interface CastCardProps {
  readonly member: Member;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function CastCard({ member, isChosen, onChoose }: CastCardProps) {
  return (
    <button type="button" className={CARD} role="radio" aria-checked={isChosen} onClick={onChoose}>
      <span className={PLACE}>
        <MemberImage member={member} />
      </span>
      <span className="truncate min-w-0">{nameMember(member)}</span>
      <span className="truncate text-faint text-12 font-normal min-w-0">
        <Ago at={member.createdAt} />
      </span>
    </button>
  );
}

/** Shows the form that makes one; what is filled in there stays. */
function makeNew(kind: CastKind): void {
  const tab = findTab(kind);
  setDraft(tab, { key: kind, values: { ...readDraft(tab)?.values } });
}
