import type { NodeLoad } from '../providers/contract/provider.ts';
import { runningNode } from '../synchronous/nodes.ts';
import { builder } from './builder.ts';

const ComfyNode = builder.objectRef<NodeLoad>('ComfyNode').implement({
  description: 'A machine of the ComfyUI pool, and how busy it is.',
  fields: (t) => ({
    node: t.exposeString('node', { description: 'Its address, as `node` arguments take it.' }),
    queueRunning: t.exposeInt('running', { description: 'Jobs it works on.' }),
    queuePending: t.exposeInt('pending', { description: 'Jobs that wait there.' }),
    capacity: t.exposeInt('capacity', { description: 'Most jobs it should hold.' }),
  }),
});

builder.queryField('runningNode', (t) =>
  t.field({
    type: ComfyNode,
    nullable: true,
    description: 'The least busy ComfyUI machine with room for so many tasks; null when none has room.',
    rule: 'anyone',
    args: {
      taskCount: t.arg.int({
        required: true,
        defaultValue: 1,
        description: 'How many tasks; below 1 counts as 1.',
      }),
    },
    resolve: (_, { taskCount }, { services }) => runningNode(services.registry, taskCount),
  }),
);
