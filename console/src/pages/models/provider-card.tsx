import { Link } from '@tanstack/react-router';
import { memo, type ReactNode, useState } from 'react';

import type { BindingPartsFragment, ModelsQuery } from '../../api/documents/operations.ts';
import { CopyButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { CardHead, cardLook, SandboxTag } from '../../parts/looks/panels.tsx';
import { providerName } from '../../parts/provider-name.ts';
import { t, textOr } from '../../text/text.ts';
import { priceText, usualText } from '../../work/model-words.ts';
import { findTab } from '../../work/work.ts';
import { BindingRow, foldedRowLook, StateBadge } from './binding-row.tsx';
import {
  connectLines,
  countByHour,
  type Hour,
  type ProviderGroup,
  readProviderState,
  readUrgency,
} from './by-provider.ts';
import { DayPlot } from './day-plot.tsx';
import { limitsText, tp } from './texts.ts';

type Model = ModelsQuery['models'][number];

interface ProviderCardProps {
  readonly group: ProviderGroup;
  /** The last day of all connections; absent for callers who may not see it. */
  readonly hours: readonly Hour[] | null;
  /** Whether models are looked for: they are shown then. */
  readonly isFinding: boolean;
}

/** One provider: how it does, whether its key is set, its models and connections folded, and how to connect it. */
export const ProviderCard = memo(function ProviderCard({ group, hours, isFinding }: ProviderCardProps) {
  const { provider, models, bindings } = group;
  const own = bindings.map(({ binding }) => binding);
  const isSandbox = [...models, ...bindings].every(({ sandbox }) => sandbox);
  const name = providerName(provider);
  return (
    <article className={cardLook} aria-label={name}>
      <CardHead>
        <span
          className="grid place-items-center w-6 h-6 flex-none rounded-control bg-active text-12 font-semibold"
          aria-hidden="true"
        >
          {name.charAt(0).toUpperCase()}
        </span>
        <h2>{name}</h2>
        <span className="ml-auto">
          {bindings.length > 0 ? (
            <StateBadge state={readProviderState(group)} />
          ) : (
            isSandbox && <SandboxTag />
          )}
        </span>
      </CardHead>
      {hours !== null && <DayPlot bars={countByHour(hours, own, Date.now())} />}
      {bindings.length > 0 && (
        <Folded title={t('providers.bindings')} count={bindings.length} isOpen={readUrgency(group) > 0}>
          {() => bindings.map((binding) => <BindingRow key={binding.binding} binding={binding} />)}
        </Folded>
      )}
      {models.length > 0 && (
        // Another key unfolds it when something is looked for, and leaves it to the reader after.
        <Folded key={String(isFinding)} title={t('page.models')} count={models.length} isOpen={isFinding}>
          {() => models.map((model) => <ModelRow key={`${model.generator} ${model.id}`} model={model} />)}
        </Folded>
      )}
      {bindings.length > 0 && <Connect bindings={bindings} name={name} />}
    </article>
  );
});

interface FoldedProps {
  readonly title: string;
  readonly count: number;
  readonly isOpen: boolean;
  readonly children: () => ReactNode;
}

/** A list whose rows are made when it is first unfolded: hundreds of them would be made for nobody. */
function Folded({ title, count, isOpen, children }: FoldedProps) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  return (
    <details
      className="border-t border-t-line"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && setWasOpen(true)}
    >
      <summary className="min-h-10 cursor-pointer content-center px-4 py-2 font-medium">
        {title} <Figures tone="faint">{count}</Figures>
      </summary>
      {(isOpen || wasOpen) && (
        <ul className="flex max-h-80 flex-col gap-3 overflow-y-auto px-4 pb-3">{children()}</ul>
      )}
    </details>
  );
}

function ModelRow({ model }: { readonly model: Model }) {
  const facts = [
    model.kinds.map((kind) => textOr(`kind.${kind}`, kind)).join(', '),
    priceText(model),
    usualText(model),
  ];
  return (
    <li className={foldedRowLook}>
      <Link className="font-medium" to="/" search={{ kind: findTab(model.kinds[0] ?? '') }}>
        {model.name}
      </Link>
      <Small>{facts.filter(Boolean).join(' · ')}</Small>
      <span className="text-faint text-12 font-normal">{limitsText(model)}</span>
      <End model={model} />
    </li>
  );
}

/** Days before its end from which a model's row says so. */
const WARN_DAYS = 60;

function End({ model: { retiresAt, sandbox } }: { readonly model: Model }) {
  // The sandbox ends none.
  const days =
    retiresAt === null || sandbox ? Infinity : Math.ceil((Date.parse(retiresAt) - Date.now()) / 86_400_000);
  return days > WARN_DAYS ? null : (
    <p className="text-12 font-normal text-attention">{t('models.endsIn', { days })}</p>
  );
}

/** Whether the key is set; where a connection has none, the lines that make it real. */
function Connect({
  bindings,
  name,
}: {
  readonly bindings: readonly BindingPartsFragment[];
  readonly name: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const missing = bindings.filter(({ sandbox }) => sandbox);
  const ways = connectLines(missing.map(({ settings }) => settings));
  return (
    <footer className="flex flex-col gap-3 py-3 px-4 border-t border-t-line">
      <Row wrap>
        <Row as="span" className="text-muted text-12 font-normal">
          <Icon name="keys" size={14} />
          {tp(
            missing.length === 0
              ? 'providers.keySet'
              : missing.length === bindings.length
                ? 'providers.keyMissing'
                : 'providers.keyPartly',
          )}
        </Row>
        {ways.length > 0 && (
          <Button
            size="small"
            className="ml-auto"
            aria-expanded={isOpen}
            aria-label={tp('providers.connectOne', { name })}
            onClick={() => setIsOpen(!isOpen)}
          >
            {tp('providers.connect')}
          </Button>
        )}
      </Row>
      {isOpen && (
        <div className="flex flex-col gap-2 min-w-0">
          <Small as="p">{tp(ways.length === 1 ? 'providers.connectText' : 'providers.connectWays')}</Small>
          {ways.map((way) => (
            <div
              key={way.join()}
              className="flex items-start gap-2 pt-2 pr-1 pb-2 pl-3 bg-sunken rounded-control"
            >
              <pre
                className="m-0 flex-1 overflow-x-auto px-0 py-0.75 [font:12.5px/20px_var(--mono)]"
                tabIndex={0}
              >
                {way.join('\n')}
              </pre>
              <CopyButton text={way.join('\n')} />
            </div>
          ))}
        </div>
      )}
    </footer>
  );
}
