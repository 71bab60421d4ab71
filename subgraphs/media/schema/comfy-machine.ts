import { AppError } from '../../../platform/errors.ts';
import type { ClosedMachine, Machines } from '../generators/machines/machines.ts';
import type { MachineFacts } from '../providers/contract/provider.ts';
import { builder } from './builder.ts';
import { ComfyServer } from './provider-health.ts';

/** The page of the ComfyUI pool: what each machine is and has, draining and pausing it. */

const Device = builder.objectRef<MachineFacts['devices'][number]>('ComfyDevice').implement({
  description: 'A device that a machine computes on.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As the machine calls it.' }),
    type: t.exposeString('type', { description: 'cuda, cpu, mps, ...' }),
    totalBytes: t.exposeFloat('totalBytes', { nullable: true, description: 'Its memory; null: not told.' }),
    freeBytes: t.exposeFloat('freeBytes', {
      nullable: true,
      description: 'What is free of it; null: not told.',
    }),
  }),
});

const Models = builder.objectRef<MachineFacts['models'][number]>('ComfyModels').implement({
  description: 'Model files that a node class of a machine loads.',
  fields: (t) => ({
    loader: t.exposeString('loader', { description: 'The node class.' }),
    files: t.exposeStringList('files', { description: 'Names of the files.' }),
  }),
});

const MachineError = builder.objectRef<MachineFacts['errors'][number]>('ComfyMachineError').implement({
  description: 'A graph that has failed on a machine.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', nullable: true, description: 'When; null: not told.' }),
    node: t.exposeString('node', { nullable: true, description: 'Class of the node that failed.' }),
    message: t.exposeString('message', { description: 'What it said, without paths.' }),
  }),
});

const Facts = builder.objectRef<MachineFacts>('ComfyMachineFacts').implement({
  description: 'What a machine is and has, as it says itself.',
  fields: (t) => ({
    versions: t.field({
      type: 'JSON',
      description: 'Name of a program -> its version.',
      resolve: ({ versions }) => versions,
    }),
    devices: t.field({
      type: [Device],
      description: 'What it computes on.',
      resolve: ({ devices }) => [...devices],
    }),
    classes: t.stringList({ description: 'Its node classes.', resolve: ({ classes }) => [...classes] }),
    models: t.field({
      type: [Models],
      description: 'Its model files, by the class that loads them.',
      resolve: ({ models }) => [...models],
    }),
    loaded: t.stringList({
      description: 'Models of the last graph that had some: what it probably has loaded.',
      resolve: ({ loaded }) => [...loaded],
    }),
    errors: t.field({
      type: [MachineError],
      description: 'Its last failures, newest first, at most 5.',
      resolve: ({ errors }) => [...errors],
    }),
  }),
});

const STATES = ['draining', 'paused'] as const;

const ClosedState = builder.enumType('ComfyServerState', {
  description: 'Why a machine gets no new work.',
  values: {
    DRAINING: { value: STATES[0], description: 'It finishes what runs and what waits there.' },
    PAUSED: {
      value: STATES[1],
      description: 'It finishes what runs; what waits there starts on another machine that takes work.',
    },
  },
});

const Closed = builder.objectRef<ClosedMachine>('ComfyServerClosed').implement({
  description: 'That an administrator gives a machine no new work.',
  fields: (t) => ({
    state: t.expose('state', { type: ClosedState, description: 'How.' }),
    reason: t.exposeString('reason', { description: 'Why; empty when nothing was said.' }),
    by: t.exposeID('closedBy', { description: 'Id of the administrator.' }),
    at: t.expose('closedAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

builder.objectFields(ComfyServer, (t) => ({
  closed: t.field({
    type: Closed,
    nullable: true,
    description: 'Set while it gets no new work.',
    resolve: ({ address }, _, { services }) => services.machines?.of(address.replace(/\/+$/, '')) ?? null,
  }),
  facts: t.field({
    type: Facts,
    nullable: true,
    description: 'What it is and has, asked now; null when it does not answer.',
    resolve: ({ facts }, _, { signal }) => facts(signal),
  }),
}));

const address = { required: true, description: 'Its address, as `comfyServers` has it.' } as const;

builder.mutationField('closeComfyServer', (t) =>
  t.field({
    type: Closed,
    description:
      'Gives a ComfyUI machine no new work: draining, it finishes its queue; paused, what waits there goes to another machine. Work waits when every machine is closed. NOT_FOUND for an address of no pool.',
    rule: 'admin',
    args: {
      id: t.arg.id(address),
      state: t.arg({ type: ClosedState, required: true, description: 'How.' }),
      reason: t.arg.string({ description: 'For other administrators; at most 200 characters.' }),
    },
    async resolve(_, { id, state, reason }, { caller, services }) {
      const machines = known(services.machines);
      await machines.close(caller, id, { state, reason: reason ?? '' });
      const closed = machines.of(id.replace(/\/+$/, ''));
      if (closed === null) throw new AppError('CONFLICT', 'somebody has opened it meanwhile');
      return closed;
    },
  }),
);

builder.mutationField('openComfyServer', (t) =>
  t.id({
    description:
      'Gives a ComfyUI machine work again, and answers its address. NOT_FOUND for an address of no pool.',
    rule: 'admin',
    args: { id: t.arg.id(address) },
    async resolve(_, { id }, { services }) {
      await known(services.machines).open(id);
      return id;
    },
  }),
);

function known(machines: Machines | null): Machines {
  if (machines === null) throw new AppError('NOT_CONFIGURED', 'machines can not be closed here');
  return machines;
}
