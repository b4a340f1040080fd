-- Runs the session in `$SESSION`: `nvim --headless --clean -u editor.lua`. A session is a coroutine, so
-- that Neovim waits for input while the session waits for an answer. Neovim fails if the session does, or
-- if it showed an error.

local editor = {}
package.loaded.editor = editor
local loop = vim.uv or vim.loop

editor.VERSIONS = 'global/config/software-versions.yaml'
editor.CLOUD = 'type/cloud/charts/keystone.yaml'
editor.NORTH = 'site/north/charts/keystone.yaml'

-- The machine may be slow and busy.
local PATIENCE_MS = 30000

local function resume(session)
  local is_fine, problem = coroutine.resume(session)
  if not is_fine then
    io.stderr:write(debug.traceback(session, problem) .. '\n')
    vim.cmd('cquit')
  elseif coroutine.status(session) == 'dead' then
    if vim.v.errmsg ~= '' then
      io.stderr:write('Neovim shows an error: ' .. vim.v.errmsg .. '\n')
      vim.cmd('cquit')
    end
    vim.api.nvim_input('<Esc>:qall!<CR>')
  end
end

-- Waits until a function returns something, and returns that.
function editor.wait(what, holds)
  local session = coroutine.running()
  local start = loop.hrtime()
  while true do
    local found = holds()
    if found then return found end
    if loop.hrtime() - start > PATIENCE_MS * 1e6 then error('no ' .. what, 2) end
    vim.defer_fn(function() resume(session) end, 20)
    coroutine.yield()
  end
end

function editor.equal(found, expected)
  if not vim.deep_equal(found, expected) then
    error('expected ' .. vim.inspect(expected) .. ', found ' .. vim.inspect(found), 2)
  end
end

-- Waits until a function returns a value.
function editor.becomes(expected, of)
  local is_met = pcall(editor.wait, 'value', function() return vim.deep_equal(of(), expected) end)
  if not is_met then
    error('expected ' .. vim.inspect(expected) .. ', found ' .. vim.inspect(of()), 2)
  end
end

function editor.has(text, part)
  if not text:find(part, 1, true) then error(('expected %q in %s'):format(part, text), 2) end
end

-- Opens a file with its client, and goes to a place in it.
function editor.open(file, around)
  vim.cmd('edit ' .. file)
  editor.wait('client', editor.client)
  if around then editor.go(around) end
end

function editor.client()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
  for _, client in pairs(clients) do
    if client.initialized then return client end
  end
end

-- Puts the cursor at the `|` in a text.
function editor.go(around)
  local before, behind = around:match('^(.-)|(.*)$')
  local function literal(text) return (vim.fn.escape(text, '\\'):gsub('\n', '\\n')) end
  vim.fn.cursor(1, 1)
  local line = vim.fn.search('\\V' .. literal(before) .. '\\zs' .. literal(behind), 'cW')
  assert(line > 0, around)
end

-- Types keys that end in normal mode.
function editor.type(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'xt', false)
end

-- The text of a buffer.
function editor.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

-- A file as a buffer, which need not be loaded.
function editor.buffer(file)
  return vim.fn.bufadd(vim.fn.getcwd() .. '/' .. file)
end

-- The name of a buffer below the working directory.
function editor.name(buffer)
  return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':.')
end

-- Findings of a buffer, as `LINE:COLUMN CODE`.
function editor.findings(buffer, options)
  local lines = vim.tbl_map(function(found)
    return ('%d:%d %s'):format(found.lnum + 1, found.col + 1, found.code)
  end, vim.diagnostic.get(buffer, options))
  table.sort(lines)
  return lines
end

-- Waits until these are the findings of a buffer.
function editor.finds(buffer, expected, options)
  editor.becomes(expected, function() return editor.findings(buffer, options) end)
end

-- The place of the cursor, as `FILE:LINE:COLUMN`.
function editor.cursor()
  local line, column = unpack(vim.api.nvim_win_get_cursor(0))
  return ('%s:%d:%d'):format(editor.name(0), line, column + 1)
end

-- The places of a quickfix or location list, as `FILE:LINE:COLUMN`.
function editor.places(items)
  local lines = vim.tbl_map(function(item)
    return ('%s:%d:%d'):format(editor.name(item.bufnr), item.lnum, item.col)
  end, items)
  table.sort(lines)
  return lines
end

-- The result of a request for which Neovim has no function.
function editor.ask(method, params)
  local answers = editor.wait(method, function()
    return vim.lsp.buf_request_sync(0, method, params, PATIENCE_MS)
  end)
  local _, answer = next(answers)
  assert(answer.err == nil, vim.inspect(answer))
  return answer.result
end

vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    local session = coroutine.create(assert(loadfile(vim.env.SESSION)))
    -- Inside of an event, others such as `FileType` do not occur.
    vim.schedule(function() resume(session) end)
  end,
})

if vim.lsp.config then dofile(vim.env.PAGE .. '/configuration.lua') end

return editor
