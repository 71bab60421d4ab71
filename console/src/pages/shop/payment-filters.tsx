import { useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';

import { useCaller } from '../../api/caller.ts';
import type { PaymentFilter, PaymentStatus } from '../../api/documents/operations.ts';
import { CatalogDocument } from '../../api/documents/shop.ts';
import { buyerText } from '../../library/order.ts';
import { InputField, SelectField } from '../../parts/controls/fields.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Chip, Chips } from '../../parts/looks/inputs.tsx';
import { t } from '../../text/text.ts';

/** Every state of a payment, in the order of their meaning. */
export const STATUSES: readonly PaymentStatus[] = ['PENDING', 'COMPLETED', 'REFUNDED', 'FAILED', 'CANCELLED'];

const DAY_MS = 86_400_000;

/** What the address says of the payments that are listed. */
export interface PaymentSearch {
  readonly status?: PaymentStatus;
  readonly of?: string;
  /** Days of the browser's own time, 2026-01-31; the last one is included. */
  readonly from?: string;
  readonly to?: string;
}

/** The same as the API's filter. */
export function toFilter({ status, of, from, to }: PaymentSearch): PaymentFilter {
  const start = (day: string) => Date.parse(`${day}T00:00`);
  return {
    ...(status === undefined ? {} : { statuses: [status] }),
    ...(of === undefined ? {} : { templateCode: of }),
    ...(from === undefined ? {} : { createdAfter: new Date(start(from)).toISOString() }),
    // A day and a bit, then back to midnight: days of 23 and 25 hours are days.
    ...(to === undefined ? {} : { createdBefore: dayAfter(start(to)) }),
  };
}

function dayAfter(start: number): string {
  const next = new Date(start + 1.25 * DAY_MS);
  next.setHours(0, 0, 0, 0);
  return next.toISOString();
}

/** State, template, days and buyer of the payments; all of them are in the address. */
export function PaymentFilters() {
  const search = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const set = (change: Partial<Record<keyof PaymentSearch | 'user', string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) as typeof search, replace: true });
  return (
    <div className="p-4 gap-3 flex flex-col min-w-0">
      <Chips className="min-w-0" aria-label={t('shop.paymentState')}>
        {[undefined, ...STATUSES].map((one) => (
          <Chip key={one ?? 'all'} aria-pressed={one === search.status} onClick={() => set({ status: one })}>
            {one === undefined ? t('shop.allPayments') : t(`payment.${one}`)}
          </Chip>
        ))}
      </Chips>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-3 items-start">
        <TemplateFilter value={search.of} onChange={(of) => set({ of })} />
        <DayFilter label={t('shop.from')} value={search.from} onChange={(from) => set({ from })} />
        <DayFilter label={t('shop.to')} value={search.to} onChange={(to) => set({ to })} />
      </div>
      {search.user !== undefined && (
        <p>
          <Chip aria-pressed="true" onClick={() => set({ user: undefined })}>
            {t('shop.onlyOf', { user: buyerText({ userId: search.user, user: null }) })}
            <Icon name="close" size={12} />
          </Chip>
        </p>
      )}
    </div>
  );
}

interface FilterProps {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function TemplateFilter({ value, onChange }: FilterProps) {
  const caller = useCaller();
  const { data } = useQuery(CatalogDocument, { skip: caller === undefined });
  const templates = data?.templatesConnection.edges.map(({ node }) => node) ?? [];
  const isKnown = value === undefined || templates.some(({ code }) => code === value);
  return (
    <SelectField
      label={t('shop.template')}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      empty={t('shop.allTemplates')}
      options={[
        ...(isKnown ? [] : [[value, value] as const]),
        ...templates.map(({ code, name }) => [code, name] as const),
      ]}
    />
  );
}

function DayFilter({ label, value, onChange }: FilterProps & { readonly label: string }) {
  return (
    <InputField
      label={label}
      type="date"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  );
}
