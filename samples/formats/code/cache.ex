defmodule MyApp.Cache do
  @moduledoc """
  A cache.
  """
  use GenServer
  alias MyApp.Repo

  @doc "Starts it."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts)
  end

  def get(key) when is_binary(key), do: :ets.lookup(:cache, key)

  defp load(key) do
    key
  end

  defmacro cached(expr) do
    quote do
      unquote(expr)
    end
  end

  defmodule Entry do
    defstruct [:a, :b]

    def new(a), do: %Entry{a: a}
  end
end

defprotocol Size do
  @doc "Size"
  def size(data)
end

defimpl Size, for: List do
  def size(l) do
    length(l)
  end
end

defmodule MyTest do
  use ExUnit.Case
  describe "get" do
    test "returns nil", %{a: a} do
      assert a == 1
    end
  end
end
