-- The commands of docs/editors.md: rendered documents, and what the edit changes.

local editor = require('editor')

dofile(vim.env.PAGE .. '/commands.lua')
local offered
vim.ui.select = function(items, options, on_choice)
  offered = vim.tbl_map(options.format_item, items)
  for _, item in ipairs(items) do
    if item.site == 'north' then return on_choice(item) end
  end
end

editor.open(editor.VERSIONS, 'keystone:2025.|1')
editor.type('r2')
vim.cmd('LayercakeRendered')
editor.equal(offered, { 'lab', 'north', 'south', 'west' })
local rendered = editor.text(0)
editor.has(rendered, 'keystone: registry.example.org/keystone:2025.2-ubuntu_noble')
editor.has(rendered, editor.VERSIONS .. ':22')
editor.equal({ vim.bo.filetype, vim.bo.modifiable, vim.bo.modified }, { 'yaml', false, false })

editor.open(editor.VERSIONS, 'keystone:2025.|2')
local client = editor.client()
local documents = client:request_sync('workspace/executeCommand', {
  command = 'layercake.rendered',
  arguments = { vim.lsp.util.make_position_params(0, client.offset_encoding) },
}, 30000).result
vim.cmd.edit(vim.fn.fnameescape(documents[2].base))
editor.equal(editor.text(0), (rendered:gsub('keystone:2025.2', 'keystone:2025.1')))

editor.open(editor.VERSIONS)
vim.cmd('LayercakeChanges')
local list = vim.fn.getqflist({ title = 0, items = 0 })
editor.equal(list.title:match('^[^·]*'), '5 of 48 outputs changed in 3 of 4 sites, 2 of them deployed ')
local lines = vim.tbl_map(function(item)
  return ('%s:%d %s'):format(item.bufnr > 0 and editor.name(item.bufnr) or '', item.lnum, item.text)
end, list.items)
editor.equal(#lines, 4)
editor.has(lines[1], editor.VERSIONS .. ':22 software-versions (global)  .images.keystone: ')
editor.equal(lines[2], editor.VERSIONS .. ':22   2 × keystone in north, south | 2 outputs')
editor.equal(lines[4], table.concat({
  ':0   shielded in west: set again by software-versions (site) at site/west/config/software-versions.yaml:19',
  'shields others',
}, ' | '))
