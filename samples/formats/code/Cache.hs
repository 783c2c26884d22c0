{-# LANGUAGE OverloadedStrings #-}
module Data.Cache (Cache, empty, insert) where

import qualified Data.Map as M
import Data.Text (Text)
import Control.Monad

-- | A cache.
data Cache k v = Cache
  { cacheMap :: M.Map k v
  , cacheSize :: Int
  }
  deriving (Show)

newtype Id = Id { unId :: Int }

type Name = Text

class Monad m => MonadCache m where
  lookupCache :: Text -> m (Maybe Int)
  storeCache :: Text -> Int -> m ()

instance MonadCache IO where
  lookupCache k = do
    pure Nothing
  storeCache _ _ = pure ()

-- | Empty cache.
empty :: Cache k v
empty = Cache M.empty 0

-- | Insert.
insert :: Ord k => k -> v -> Cache k v -> Cache k v
insert k v (Cache m n)
  | M.member k m = Cache m n
  | otherwise = Cache (M.insert k v m) (n + 1)
  where
    x = 1
insert _ _ c = c
