-- The window at a value, at a selector, and at the rule of an ignore comment.

local editor = require('editor')

local function window()
  for _, it in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(it).relative ~= '' then return it end
  end
end

local function hovered()
  -- Neovim closes the window when the cursor moves, which it may notice late.
  local is_idle
  vim.api.nvim_create_autocmd('SafeState', { once = true, callback = function() is_idle = true end })
  editor.wait('input', function() return is_idle end)
  vim.lsp.buf.hover()
  local opened = editor.wait('window', window)
  local text = editor.text(vim.api.nvim_win_get_buf(opened))
  vim.api.nvim_win_close(opened, true)
  return text
end

editor.open(editor.VERSIONS, '    keystone: |registry')
local value = hovered()
editor.has(value, 'reaches 5 outputs in lab, north, south')
editor.has(value, 'site/west/config/software-versions.yaml:19')
editor.has(value, 'takes effect')
-- The text of the buffer, a line further down.
editor.type('ggO# first<Esc>')
editor.go('    keystone: |registry')
editor.has(hovered(), editor.VERSIONS .. ':23')

editor.open(editor.NORTH, 'name: keystone-|cloud')
editor.has(hovered(), 'the parent is keystone (type) at type/cloud/charts/keystone.yaml:5 in north')

editor.type('ggO# layercake: ignore-file[unused-label] why<Esc>')
editor.go('unused-|label')
editor.has(hovered(), 'unused-label\n')
